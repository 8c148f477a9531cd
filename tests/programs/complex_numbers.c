// _Complex float and double use vector registers in their own way.
// flags: -lm
// expect: -0x1.470a4a2012aap-7 0x1.9228639468bfp-3
// expect: -0x1.470a8p-7 0x1.922864p-3
// expect: 0x1.398cda9c53549p-4 0x1.626e23e055a9dp-5 0x1.682a4704d04bcp-4
#include <complex.h>
#include <stdio.h>

static double complex step(double complex z, double complex c) { return z * z + c; }
static float complex stepf(float complex z, float complex c) { return z * z + c; }

int main(void) {
    double complex z = 0;
    float complex w = 0;
    for (int i = 0; i < 12; i++) { z = step(z, 0.25 + 0.5 * I); w = stepf(w, 0.25f + 0.5f * I); }
    printf("%a %a\n", creal(z), cimag(z));
    printf("%a %a\n", crealf(w), cimagf(w));
    double complex q = z / (1 + 2 * I);
    printf("%a %a %a\n", creal(q), cimag(q), cabs(q));
    return 0;
}
