#include "registry.h"

#include <stdlib.h>
#include <string.h>

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *bytes = malloc(size);
    if (!bytes)
        abort();
    return memcpy(bytes, text, size);
}

struct user *registry_find(struct registry *registry, const char *name)
{
    for (struct user *user = registry->first; user; user = user->next)
        if (strcmp(user->name, name) == 0)
            return user;
    return NULL;
}

struct user *registry_add(struct registry *registry, const char *name)
{
    struct user *user = registry_find(registry, name);
    if (user)
        return user;
    user = malloc(sizeof *user);
    if (!user)
        abort();
    user->name = copy(name);
    user->renamed = 0;
    user->next = registry->first;
    registry->first = user;
    if (!registry->owner)
        registry->owner = user->name;
    return user;
}

int registry_rename(struct registry *registry, const char *from, const char *to)
{
    struct user *user = registry_find(registry, from);
    if (!user || registry_find(registry, to))
        return 0;
    free(user->name);
    user->name = copy(to);
    user->renamed++;
    return 1;
}

int registry_remove(struct registry *registry, const char *name)
{
    struct user **at = &registry->first;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    struct user *user = *at;
    if (!user || registry->owner == user->name)
        return 0;
    *at = user->next;
    free(user->name);
    free(user);
    return 1;
}
