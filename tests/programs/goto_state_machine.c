// Irreducible control flow: a loop with two entries.
// expect: 0 2 16 6 9 4 20 15 23 18
#include <stdio.h>

static int machine(int x) {
    int steps = 0;
    if (x & 1) goto odd;
even:
    if (x <= 1 || ++steps > 500) return steps;
    x /= 2;
    if (!(x & 1)) goto even;
odd:
    if (x <= 1 || ++steps > 500) return steps;
    x = 3 * x + 1;
    goto even;
}

int main(void) {
    for (int i = 1; i < 30; i += 3) printf("%d ", machine(i));
    putchar('\n');
    return 0;
}
