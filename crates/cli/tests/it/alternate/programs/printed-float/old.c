#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int x = atoi(argv[1]);
    double d = x * 0.5;
    if (x > 3) puts("more");
    printf("%g\n", d);
    return 0;
}
