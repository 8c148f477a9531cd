// exit from deep inside, with stdio left to flush.
// exit: 42
// expect: 8 7 6 5 4 3 2 1
#include <stdio.h>
#include <stdlib.h>

static void down(int n) {
    if (n == 0) exit(42);
    printf("%d ", n);
    down(n - 1);
    puts("never");
}

int main(void) {
    down(8);
    return 0;
}
