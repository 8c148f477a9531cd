/* Three keys go into a search tree; is a fourth in it? The depth is kept, and not shown. */
#include <stdio.h>

struct node {
    int key, left, right;
};

static struct node nodes[4];
static int used, deepest;

static void insert(int key) {
    int at = 0, depth = 0;
    nodes[used].key = key;
    if (used == 0) {
        used = 1;
        return;
    }
    for (;;) {
        depth++;
        if (depth > deepest)
            deepest = depth;
        if (key == nodes[at].key)
            return;
        int *next = key < nodes[at].key ? &nodes[at].left : &nodes[at].right;
        if (*next == 0) {
            *next = used++;
            return;
        }
        at = *next;
    }
}

int main(void) {
    for (int i = 0; i < 3; i++)
        insert(getchar());
    int wanted = getchar(), found = 0;
    for (int i = 0; i < used; i++)
        if (nodes[i].key == wanted)
            found = 1;
    printf("%s\n", found ? "yes" : "no");
    return 0;
}
