// Function pointers that change while the table is walked.
// expect: 149
#include <stdio.h>

typedef int (*step)(int);
static step table[3];
static int c(int x) { table[2] = table[0]; return x * 2; }
static int b(int x) { table[1] = c; return x + 1; }
static int a(int x) { table[0] = b; return x - 3; }

int main(void) {
    table[0] = a;
    table[1] = b;
    table[2] = c;
    int x = 10;
    for (int i = 0; i < 12; i++) x = table[i % 3](x);
    printf("%d\n", x);
    return 0;
}
