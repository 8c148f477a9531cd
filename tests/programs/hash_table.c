// stdin: the cat and the dog and the bird
// stdin: a bird in the hand
// expect: 4 the
// expect: 2 and
// expect: 2 bird
// expect: 1 a
// expect: 1 cat
// expect: 1 dog
// expect: 1 hand
// expect: 1 in
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry { char *word; int count; struct entry *next; };
static struct entry *buckets[16];

static unsigned hash(const char *s) {
    unsigned h = 5381;
    while (*s) h = h * 33 + (unsigned char)*s++;
    return h % 16;
}
static void add(const char *w) {
    struct entry **b = &buckets[hash(w)];
    for (struct entry *e = *b; e; e = e->next)
        if (strcmp(e->word, w) == 0) { e->count++; return; }
    struct entry *e = malloc(sizeof *e);
    e->word = strdup(w);
    e->count = 1;
    e->next = *b;
    *b = e;
}
static int order(const void *a, const void *b) {
    const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
    return x->count != y->count ? y->count - x->count : strcmp(x->word, y->word);
}

int main(void) {
    char w[32];
    while (scanf("%31s", w) == 1) add(w);
    struct entry *all[64];
    int n = 0;
    for (int i = 0; i < 16; i++)
        for (struct entry *e = buckets[i]; e; e = e->next) all[n++] = e;
    qsort(all, (size_t)n, sizeof *all, order);
    for (int i = 0; i < n; i++) printf("%d %s\n", all[i]->count, all[i]->word);
    return 0;
}
