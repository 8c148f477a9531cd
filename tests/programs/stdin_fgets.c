// stdin: 10 apples
// stdin: 20 pears
// stdin: not a number
// stdin: 30 a line that is longer than the buffer it is read into
// expect: <10 apples>
// expect: <20 pears>
// expect: <not a number>
// expect: <30 a line that is longe>
// expect: <r than the buffer it is>
// expect: < read into>
// expect: 60 6
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char buf[24];
    int total = 0, pieces = 0;
    while (fgets(buf, sizeof buf, stdin)) {
        pieces++;
        char *nl = strchr(buf, '\n');
        if (nl) *nl = 0;
        total += atoi(buf);
        printf("<%s>\n", buf);
    }
    printf("%d %d\n", total, pieces);
    return 0;
}
