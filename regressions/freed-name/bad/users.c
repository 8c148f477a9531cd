/* Takes orders from the command line: +name, -name, from=to, ?name. */
#include "registry.h"

#include <stdio.h>
#include <string.h>

static void tell(struct registry *registry, const char *name)
{
    struct user *user = registry_find(registry, name);
    if (!user)
        printf("%s: nobody\n", name);
    else if (strcmp(registry->owner, name) == 0)
        printf("%s: owner, renamed %d times\n", name, user->renamed);
    else
        printf("%s: guest, renamed %d times\n", name, user->renamed);
}

int main(int argc, char **argv)
{
    struct registry registry = { 0 };
    for (int i = 1; i < argc; i++) {
        char *order = argv[i];
        char *equals = strchr(order, '=');
        if (order[0] == '+') {
            registry_add(&registry, order + 1);
        } else if (order[0] == '-') {
            if (!registry_remove(&registry, order + 1))
                printf("%s stays\n", order + 1);
        } else if (order[0] == '?') {
            tell(&registry, order + 1);
        } else if (equals) {
            *equals = '\0';
            if (!registry_rename(&registry, order, equals + 1))
                printf("%s keeps that name\n", order);
        }
    }
    return 0;
}
