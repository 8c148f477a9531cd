#include <stdio.h>
#include <stdlib.h>

static int f;

//@ changed_behavior
//@   requires \prev(f) > 0;
//@   ensures \result == \prev(\result) + x;
//@   ensures \latest(x);
int m(int x) {
    return f + x;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        f = atoi(argv[i]);
        printf("%d\n", m(i));
    }
    return 0;
}
