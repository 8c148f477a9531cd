// signal: ABRT
// expect: 96
// expect: 48
// expect: 24
// expect: 12
// expect: 6
// expect: 3
#include <assert.h>
#include <stdio.h>

static int half(int n) {
    assert(n % 2 == 0);
    return n / 2;
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int n = 96;; n = half(n)) printf("%d\n", n);
}
