// signal: FPE
// expect: 7
// The condition tells the optimiser that the division behind it has no result.
#include <stdio.h>
#include <stdlib.h>

static long quotient(long value, long divisor) {
    if (divisor != 0)
        return value / divisor;
    value = value / divisor;
    return value;
}

int main(int argc, char **argv) {
    (void)argv;
    setvbuf(stdout, NULL, _IONBF, 0);
    printf("%ld\n", quotient(14, argc + 1));
    printf("%ld\n", quotient(14, argc - 1));
    return 0;
}
