// signal: ABRT
// expect: 4950
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    int x = 0;
    for (int i = 0; i < 100; i++) x += i;
    printf("%d\n", x);
    fflush(stdout);
    if (x == 4950) abort();
    return 0;
}
