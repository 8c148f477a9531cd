#include <stdio.h>

static int is_name(int c) {
    return c >= 'a' && c < 'z';
}

int main(void) {
    int c = getchar();
    if (is_name(c))
        puts("name");
    else
        puts("other");
    return 0;
}
