// malloc, calloc, realloc in place and moved, aligned, free and reuse.
// expect: 17
// expect: 12497500
// expect: 9
// expect: 0
// expect: 0 0 1
// expect: 1
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { int key; struct node *left, *right; };

static struct node *insert(struct node *n, int key) {
    if (!n) { n = calloc(1, sizeof *n); n->key = key; return n; }
    if (key < n->key) n->left = insert(n->left, key);
    else if (key > n->key) n->right = insert(n->right, key);
    return n;
}
static int height(const struct node *n) {
    if (!n) return 0;
    int l = height(n->left), r = height(n->right);
    return 1 + (l > r ? l : r);
}
static void drop(struct node *n) { if (n) { drop(n->left); drop(n->right); free(n); } }

int main(void) {
    struct node *root = NULL;
    unsigned x = 1;
    for (int i = 0; i < 300; i++) { x = x * 75 % 65537; root = insert(root, (int)x); }
    printf("%d\n", height(root));
    drop(root);
    int *v = NULL, n = 0, room = 0;
    for (int i = 0; i < 5000; i++) {
        if (n == room) v = realloc(v, sizeof *v * (size_t)(room = room ? room * 2 : 4));
        v[n++] = i;
    }
    long t = 0;
    for (int i = 0; i < n; i++) t += v[i];
    printf("%ld\n", t);
    v = realloc(v, 10 * sizeof *v);
    printf("%d\n", v[9]);
    free(v);
    int zero = 0;
    for (int round = 0; round < 20; round++) {
        unsigned char *p = malloc(1000);
        memset(p, 0xee, 1000);
        free(p);
        p = calloc(100, 10);
        for (int i = 0; i < 1000; i++) zero |= p[i];
        free(p);
    }
    printf("%d\n", zero);
    void *a = aligned_alloc(64, 256), *b;
    if (posix_memalign(&b, 4096, 100)) return 1;
    printf("%d %d %d\n", (int)((size_t)a % 64), (int)((size_t)b % 4096), malloc_usable_size(b) >= 100);
    free(a);
    free(b);
    char *big = malloc(1 << 22);
    memset(big, 1, 1 << 22);
    big = realloc(big, 1 << 23);
    printf("%d\n", big[(1 << 22) - 1]);
    free(big);
    return 0;
}
