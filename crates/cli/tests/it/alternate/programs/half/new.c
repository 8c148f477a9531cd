/* A number that goes through floating point, which is not followed. */
#include <stdio.h>

int main(void) {
    int x = getchar() - '0';
    if (x > 5)
        puts("big");
    double half = x / 2.0;
    if (half > 100)
        puts("impossible");
    return 0;
}
