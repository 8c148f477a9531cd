#include "client.h"

#include <stdlib.h>
#include <string.h>

static struct client *find(struct clients *c, const char *name) {
    int i;
    for (i = 0; i < c->count; i++)
        if (strcmp(c->list[i].name, name) == 0)
            return &c->list[i];
    if (c->count == MAX_CLIENTS)
        return NULL;
    snprintf(c->list[i].name, sizeof c->list[i].name, "%s", name);
    c->count++;
    return &c->list[i];
}

int clients_add(struct clients *c, const char *name, int minutes, long cents) {
    struct client *client = find(c, name);
    if (!client)
        return 0;
    client->meetings++;
    client->minutes += minutes;
    client->cents += cents;
    return 1;
}

long clients_total(const struct clients *c) {
    long total = 0;
    int i;
    for (i = 0; i < c->count; i++)
        total += c->list[i].cents;
    return total;
}

static int by_name(const void *a, const void *b) {
    const struct client *x = a, *y = b;
    return strcmp(x->name, y->name);
}

void clients_print(struct clients *c, FILE *out) {
    int i;
    qsort(c->list, (size_t)c->count, sizeof c->list[0], by_name);
    for (i = 0; i < c->count; i++) {
        const struct client *client = &c->list[i];
        fprintf(out, "%-12s %2d meetings %4d min %6ld.%02ld\n", client->name, client->meetings,
                client->minutes, client->cents / 100, client->cents % 100);
    }
}
