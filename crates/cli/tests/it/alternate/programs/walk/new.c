#include <stdio.h>

/* Walks along a line: a digit says how far to go. A digit is marked unless it is the last one again. */
int main(void) {
    char line[8] = "";
    int i = 0, last = -1;
    if (!fgets(line, sizeof line, stdin))
        return 2;
    while (i < 7 && line[i] != '.') {
        int m = line[i] >= '0' && line[i] <= '3' ? line[i] - '0' : -1;
        if (m >= 0) {
            for (int k = 0; k < 2; k++)
                putchar('<');
            last = m;
        }
        if (m == -1 || m == 0) {
            putchar('c');
            i = i + 1;
        } else
            i = i + m;
    }
    putchar('\n');
    return 0;
}
