#include <stdio.h>

int main(void) {
    int inp = getchar() - '0';
    if (inp != 2)
        puts("other");
    else
        puts("two");
    return 0;
}
