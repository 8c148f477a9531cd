#include <stdio.h>

static int last(int count) {
    int index = count - 1;
    return index;
}

int main(void) {
    int count = getchar() - '0';
    printf("%d\n", last(count));
    return 0;
}
