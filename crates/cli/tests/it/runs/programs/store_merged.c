// `make` is merged into `add`.
#include <stdio.h>
#include <stdlib.h>

struct item {
    const char *name;
    int amount;
    struct item *next;
};

struct store {
    struct item *first;
    int count;
    int total;
};

static void add(struct store *s, const char *name, int amount) {
    struct item *i = malloc(sizeof *i);
    i->name = name;
    i->amount = amount;
    i->next = NULL;
    i->next = s->first;
    s->first = i;
    s->count++;
    s->total += i->amount;
}

static int largest(const struct store *s) {
    int most = 0;
    for (const struct item *i = s->first; i; i = i->next)
        if (i->amount > most)
            most = i->amount;
    return most;
}

int main(void) {
    struct store *s = calloc(1, sizeof *s);
    add(s, "apples", 3);
    add(s, "pears", 5);
    add(s, "plums", 4);
    printf("%d %d\n", s->total, largest(s));
    return 0;
}
