#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    double price;
    if (scanf("%lf", &price) != 1) return 2;
    double part = price * 0.5;
    if (part >= 10.0)
        puts("large");
    else
        puts("small");
    return 0;
}
