// flags: -O2
// expect: 7ff8000000000000 7ff8000000000000 7fc00000
// expect: 7ff8000000000000
// The optimiser makes a positive NaN of constants, the processor a negative one.
#include <stdio.h>
#include <string.h>

double of_division, of_difference;
float of_product;

static unsigned long bits(double number) {
    unsigned long word;
    memcpy(&word, &number, sizeof word);
    return word;
}

__attribute__((noinline)) static void set(void) {
    double zero = 0.0, infinity = 1e308 * 10;
    float none = 0.0f;
    of_division = 0.0 / zero;
    of_difference = infinity - infinity;
    of_product = none * (float)infinity;
}

int main(void) {
    unsigned word;
    set();
    memcpy(&word, &of_product, sizeof word);
    printf("%lx %lx %x\n", bits(of_division), bits(of_difference), word);
    // What a NaN takes part in has its sign.
    printf("%lx\n", bits(of_division + 1.0));
    return 0;
}
