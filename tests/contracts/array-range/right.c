#include <stdio.h>
#include <stdlib.h>

/*@ changed_behavior
  @   requires \exists int i; 0 <= i && i < n; a[i] < 0;
  @   ensures \forall int i; 0 <= i && i < n;
  @             a[i] == (\prev(a[i]) < 0 ? 0 : \prev(a[i]));
  @*/
void limit(int *a, int n) {
    for (int i = 0; i < n; i++)
        if (a[i] > 100)
            a[i] = 100;
        else if (a[i] < 0)
            a[i] = 0;
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
