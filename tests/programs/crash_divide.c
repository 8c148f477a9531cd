// signal: FPE
// expect: 33
// expect: 50
// expect: 100
#include <stdio.h>

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int d = 3; d >= 0; d--) {
        volatile int n = 100, v = d;
        printf("%d\n", n / v);
    }
    return 0;
}
