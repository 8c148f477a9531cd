// Plain number crunching: nothing but the result should cost any bytes.
// expect: -60 123
// expect: 303
#include <stdio.h>

#define N 40
static double a[N][N], b[N][N], c[N][N];

int main(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) { a[i][j] = (i * 3 + j) % 11 - 5; b[i][j] = (i - j * 2) % 7; }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double s = 0;
                for (int k = 0; k < N; k++) s += a[i][k] * b[k][j];
                c[i][j] += s;
            }
    double trace = 0;
    for (int i = 0; i < N; i++) trace += c[i][i];
    printf("%g %g\n", trace, c[3][N - 1]);
    int sieve[2000] = {0}, primes = 0;
    for (int i = 2; i < 2000; i++) {
        if (sieve[i]) continue;
        primes++;
        for (int j = i + i; j < 2000; j += i) sieve[j] = 1;
    }
    printf("%d\n", primes);
    return 0;
}
