#include <stdio.h>

/* Two ways to walk that have no branch in common, each too long to be laid beside the other. */
int main(void) {
    int high = getchar(), sum = 0;
    for (int i = 0; i < 120000; i++) {
        if (high > 'f') {
            if (i % 3 == 0)
                sum++;
        } else {
            if (i % 5 == 0)
                sum += 2;
        }
    }
    printf("%d\n", high > 'f' ? 1 : sum > 0 ? 2 : 3);
    return 0;
}
