// stdin: first line
// stdin: second  line	with tab
// stdin:
// stdin: last
// expect: 4 7 39 1
#include <ctype.h>
#include <stdio.h>

int main(void) {
    int c, chars = 0, words = 0, lines = 0, in = 0;
    while ((c = getchar()) != EOF) {
        chars++;
        lines += c == '\n';
        if (isspace(c)) in = 0;
        else if (!in) { in = 1; words++; }
    }
    printf("%d %d %d %d\n", lines, words, chars, feof(stdin) != 0);
    return 0;
}
