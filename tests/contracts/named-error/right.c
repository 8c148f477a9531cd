#include <stdio.h>
#include <stdlib.h>

static int last_error;

/*@ error: \result < 0;
  @ changed_behavior
  @   when_ensured \result > 65535;
  @   ensures false;
  @   signals (error) \result == -2 && last_error == 2;
  @*/
int parse_port(const char *text) {
    char *end;
    long port = strtol(text, &end, 10);
    if (*end != '\0') {
        last_error = 1;
        return -1;
    }
    if (port > 65535) {
        last_error = 2;
        return -2;
    }
    return (int)port;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        printf("%d\n", parse_port(argv[i]));
    return 0;
}
