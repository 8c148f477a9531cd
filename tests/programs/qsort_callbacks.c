// Comparison functions called back from the C library.
// expect: 1 1 998 1
// expect: 1
// expect: 1
// expect: apple banana cherry fig pear adgjmpsbehknqtcfilor
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int calls;
static int by_value(const void *a, const void *b) {
    calls++;
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}
static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
struct rec { int key; double weight; char tag; };
static int by_weight(const void *a, const void *b) {
    double d = ((const struct rec *)a)->weight - ((const struct rec *)b)->weight;
    return d < 0 ? -1 : d > 0;
}

int main(void) {
    int v[200];
    unsigned seed = 12345;
    for (int i = 0; i < 200; i++) { seed = seed * 1103515245u + 12345u; v[i] = (int)(seed >> 16) % 1000; }
    qsort(v, 200, sizeof *v, by_value);
    int sorted = 1;
    for (int i = 1; i < 200; i++) sorted &= v[i - 1] <= v[i];
    printf("%d %d %d %d\n", sorted, v[0], v[199], calls > 200);
    int key = v[77], *hit = bsearch(&key, v, 200, sizeof *v, by_value);
    printf("%d\n", hit && *hit == key);
    key = 100000;
    printf("%d\n", bsearch(&key, v, 200, sizeof *v, by_value) == NULL);
    const char *w[] = {"pear", "apple", "fig", "banana", "cherry"};
    qsort(w, 5, sizeof *w, by_text);
    for (int i = 0; i < 5; i++) printf("%s ", w[i]);
    struct rec r[20];
    for (int i = 0; i < 20; i++) r[i] = (struct rec){i, (i * 7 % 20) * 0.5, (char)('a' + i)};
    qsort(r, 20, sizeof *r, by_weight);
    for (int i = 0; i < 20; i++) putchar(r[i].tag);
    putchar('\n');
    return 0;
}
