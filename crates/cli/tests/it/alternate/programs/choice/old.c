#include <stdio.h>

int main(void) {
    int inp = getchar() - '0';
    if (inp != 1)
        puts("f");
    else
        puts("g");
    return 0;
}
