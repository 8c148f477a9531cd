#include <stdio.h>
#include <stdlib.h>

int num;

//@ changed_behavior
//@   ensures num == \old(num) + 2 && num == \prev(num) + 1;
void step(void) {
    num = num + 2;
}

int main(int argc, char **argv) {
    num = argc > 1 ? atoi(argv[1]) : 1;
    step();
    printf("%d\n", num);
    return 0;
}
