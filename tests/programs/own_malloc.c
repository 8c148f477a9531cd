// A program that brings its own allocator: the C library calls back into
// modelled code, even before `main`.
// expect: 499500 1000
// expect: grown: 0 1 4 9 16
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char arena[1 << 22];
static size_t used;
static long calls;

struct head { size_t size; size_t pad; };

void *malloc(size_t size) {
    size = (size + 15) & ~(size_t)15;
    if (used + size + sizeof(struct head) > sizeof arena)
        return NULL;
    struct head *h = (struct head *)(arena + used);
    used += size + sizeof *h;
    h->size = size;
    calls++;
    return h + 1;
}

void free(void *p) { (void)p; }

void *calloc(size_t n, size_t size) {
    void *p = malloc(n * size);
    if (p)
        memset(p, 0, n * size);
    return p;
}

void *realloc(void *p, size_t size) {
    void *q = malloc(size);
    if (p && q) {
        size_t old = ((struct head *)p - 1)->size;
        memcpy(q, p, old < size ? old : size);
    }
    return q;
}

struct list { struct list *next; int value; };

int main(void) {
    struct list *all = NULL;
    long before = calls, sum = 0;
    for (int i = 0; i < 1000; i++) {
        struct list *l = malloc(sizeof *l);
        l->next = all;
        l->value = i;
        all = l;
    }
    for (struct list *l = all; l; l = l->next)
        sum += l->value;
    printf("%ld %ld\n", sum, calls - before);
    int *squares = NULL;
    for (int i = 0; i < 5; i++) {
        squares = realloc(squares, (i + 1) * sizeof *squares);
        squares[i] = i * i;
    }
    char *text = strdup("grown:");
    printf("%s", text);
    for (int i = 0; i < 5; i++)
        printf(" %d", squares[i]);
    printf("\n");
    free(text);
    return 0;
}
