#include <stdio.h>
#include <stdlib.h>

static int last_error;

int parse_port(const char *text) {
    char *end;
    long port = strtol(text, &end, 10);
    if (*end != '\0') {
        last_error = 1;
        return -1;
    }
    return (int)port;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        printf("%d\n", parse_port(argv[i]));
    return 0;
}
