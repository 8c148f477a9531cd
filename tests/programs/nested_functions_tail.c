// Mutual recursion and calls in tail position, which must stay on the books.
// expect: 1 1 259245
#include <stdio.h>

static int odd(unsigned n);
static int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
static long gcd(long a, long b) { return b ? gcd(b, a % b) : a; }

int main(void) {
    printf("%d %d %ld\n", even(1000), odd(777), gcd(1071L * 12345, 462L * 12345));
    return 0;
}
