#include <stdio.h>
int main(void) {
    int x, y, out = 0;
    if (scanf("%d %d", &x, &y) != 2)
        return 2;
    if (x + y == 10)
        if (y < 8) {
            if (x > 4)
                out = 1;
            else
                out = -1;
        }
    printf("%d\n", out);
    return 0;
}
