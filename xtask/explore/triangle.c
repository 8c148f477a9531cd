/* Three sides: which kind of triangle? The largest side is worked out, and not used. */
#include <stdio.h>

int main(void) {
    int a = getchar(), b = getchar(), c = getchar();
    int largest = a;
    if (b > largest)
        largest = b;
    if (c > largest)
        largest = c;
    const char *kind = "scalene";
    if (a == 0 || b == 0 || c == 0 || a + b <= c || a + c <= b || b + c <= a)
        kind = "none";
    else if (a == b && b == c)
        kind = "equilateral";
    else if (a == b || b == c || a == c)
        kind = "isosceles";
    if (largest > 200)
        largest = 200;
    puts(kind);
    return 0;
}
