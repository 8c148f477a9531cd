// stdin: short
// stdin: a rather longer line so that the buffer has to be moved to a new and larger place, more than one hundred and twenty bytes from here on
// stdin: x
// expect: 6 1 3391818510
// expect: 135 1 4168117510
// expect: 2 1 2651410968
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    unsigned h = 0;
    while ((n = getline(&line, &room, stdin)) > 0) {
        for (ssize_t i = 0; i < n; i++) h = h * 31 + (unsigned char)line[i];
        printf("%zd %d %u\n", n, room >= (size_t)n, h);
    }
    free(line);
    return 0;
}
