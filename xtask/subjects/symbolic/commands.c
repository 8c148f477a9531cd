/* Each byte of the input chooses a piece of work; none is worked on. Nearly all steps
   compute on numbers that have nothing to do with the input. */
#include <stdio.h>

#define SIDE 24

static unsigned a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];
static unsigned char sieve[4096];

static unsigned multiply(void) {
    unsigned sum = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            unsigned s = 0;
            for (int k = 0; k < SIDE; k++)
                s += a[i][k] * b[k][j];
            c[i][j] = s;
            sum ^= s;
        }
    return sum;
}

static unsigned primes(void) {
    unsigned count = 0;
    for (int i = 2; i < 4096; i++)
        sieve[i] = 1;
    for (int i = 2; i < 4096; i++) {
        if (!sieve[i])
            continue;
        count++;
        for (int j = 2 * i; j < 4096; j += i)
            sieve[j] = 0;
    }
    return count;
}

static unsigned collatz(void) {
    unsigned longest = 0;
    for (unsigned n = 1; n < 300; n++) {
        unsigned steps = 0;
        for (unsigned x = n; x != 1; steps++)
            x = x % 2 ? 3 * x + 1 : x / 2;
        if (steps > longest)
            longest = steps;
    }
    return longest;
}

int main(void) {
    unsigned sum = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            a[i][j] = (unsigned)(i * 7 + j);
            b[i][j] = (unsigned)(i ^ j);
        }
    for (int ch; (ch = getchar()) != EOF;) {
        switch (ch) {
        case 'm': sum += multiply(); break;
        case 'p': sum += primes(); break;
        case 'c': sum += collatz(); break;
        default:
            if (ch > ' ')
                sum++;
        }
    }
    printf("%u\n", sum);
    return 0;
}
