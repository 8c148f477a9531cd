#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

int sorted = 0;

static void f(int x, int y, int z) {
    int sum = 0;
    if (!sorted) {
        if (x < y)
            sum += x;
        else
            sum += y;
    } else
        sum += x;
    if (z > 0)
        sum += (0 - z);
    else
        sum = sum + z;
    printf("sum of %d, %d and %d: ", x, y, z);
    printf("%d\n", sum);
    assert(sum == 4);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: f X Y Z\n");
        return 2;
    }
    f(atoi(argv[1]), atoi(argv[2]), atoi(argv[3]));
    return 0;
}
