/* Who is here, by name. */
#ifndef REGISTRY_H
#define REGISTRY_H

struct user {
    char *name;
    int renamed;
    struct user *next;
};

struct registry {
    struct user *first;
    const char *owner;
};

struct user *registry_add(struct registry *registry, const char *name);
struct user *registry_find(struct registry *registry, const char *name);
int registry_rename(struct registry *registry, const char *from, const char *to);
int registry_remove(struct registry *registry, const char *name);

#endif
