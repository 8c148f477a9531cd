/* Another implementation: serves whatever is asked for. */
#include <stdio.h>
#include <string.h>

static int is_get(const char *line) {
    return line[0] == 'G' && line[1] == 'E' && line[2] == 'T' && line[3] == ' ';
}

int main(void) {
    char line[64];
    if (!fgets(line, sizeof line, stdin))
        return 1;
    if (!is_get(line)) {
        puts("501 not implemented");
        return 0;
    }
    puts("200 index.html");
    return 0;
}
