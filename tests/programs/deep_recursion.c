// Fifty thousand frames, with locals in memory at each level.
// expect: 150004
// expect: 603
#include <stdio.h>

static long visit(int n, const long *above) {
    long here[2] = {n, above ? above[0] : 0};
    if (n == 0) return here[1];
    return visit(n - 1, here) + here[0] % 7;
}

static int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

int main(void) {
    printf("%ld\n", visit(50000, NULL));
    printf("%d\n", ackermann(2, 300));
    return 0;
}
