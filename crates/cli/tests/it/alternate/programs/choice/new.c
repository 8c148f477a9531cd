#include <stdio.h>

int main(void) {
    int inp = getchar() - '0';
    if (inp != 1 && inp != 2)
        puts("f");
    else
        puts("g");
    return 0;
}
