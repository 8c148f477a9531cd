// Items are made one by one, just before they are added.
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

static struct item *make(const char *name, int amount) {
    struct item *i = malloc(sizeof *i);
    i->name = name;
    i->amount = amount;
    i->next = NULL;
    return i;
}

static void add(struct store *s, struct item *i) {
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
    struct item *a = make("apples", 3);
    add(s, a);
    struct item *b = make("pears", 5);
    add(s, b);
    struct item *c = make("plums", 4);
    add(s, c);
    printf("%d %d\n", s->total, largest(s));
    return 0;
}
