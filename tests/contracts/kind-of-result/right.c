#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { HASH, TREE };

struct set {
    enum kind kind;
    int size;
    const char *items[8];
};

/*@ changed_behavior
  @   when_ensured \result->kind == TREE;
  @   ensures \result->kind == TREE && \result->size == \prev(\result->size) + 1;
  @*/
struct set *make(const char *s) {
    struct set *set = calloc(1, sizeof *set);
    if (strchr(s, '*') != NULL) {
        set->kind = HASH;
        set->items[set->size++] = "many";
    } else {
        set->kind = TREE;
        set->items[set->size++] = s;
    }
    return set;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        struct set *set = make(argv[i]);
        printf("%d %d\n", set->kind, set->size);
        free(set);
    }
    return 0;
}
