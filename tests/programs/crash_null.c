// A null pointer dereferenced three calls deep.
// signal: SEGV
// expect: 1
// expect: 2
// expect: 3
#include <stdio.h>

struct node { int value; struct node *volatile next; };

static int nth(const struct node *volatile n, int i) {
    while (i-- > 0) n = n->next;
    return n->value;
}

int main(void) {
    struct node c = {3, NULL}, b = {2, &c}, a = {1, &b};
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 0; i < 5; i++) printf("%d\n", nth(&a, i));
    return 0;
}
