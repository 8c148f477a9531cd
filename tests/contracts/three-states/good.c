#include <stdio.h>
#include <stdlib.h>

int num;

void step(void) {
    num = num + 1;
}

int main(int argc, char **argv) {
    num = argc > 1 ? atoi(argv[1]) : 1;
    step();
    printf("%d\n", num);
    return 0;
}
