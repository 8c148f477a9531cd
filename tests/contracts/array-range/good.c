#include <stdio.h>
#include <stdlib.h>

void limit(int *a, int n) {
    for (int i = 0; i < n; i++)
        if (a[i] > 100)
            a[i] = 100;
}

int main(int argc, char **argv) {
    int n = argc - 1;
    int *a = malloc(sizeof *a * (n + 1));
    for (int i = 0; i < n; i++)
        a[i] = atoi(argv[i + 1]);
    limit(a, n);
    for (int i = 0; i < n; i++)
        printf("%d\n", a[i]);
    free(a);
    return 0;
}
