// Input from a command through popen.
// expect: 1 one
// expect: 2 two
// expect: 3 three
// expect: 0
#include <stdio.h>

int main(void) {
    FILE *p = popen("printf 'one\\ntwo\\nthree\\n'", "r");
    char line[64];
    int n = 0;
    while (fgets(line, sizeof line, p)) printf("%d %s", ++n, line);
    printf("%d\n", pclose(p));
    return 0;
}
