#include <stdio.h>

int main(void) {
    int inp = getchar() - '0';
    if (inp == 1)
        puts("one");
    else
        puts("other");
    return 0;
}
