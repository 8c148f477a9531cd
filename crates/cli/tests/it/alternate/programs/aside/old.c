#include <stdio.h>
#include <string.h>

/* Counts what nobody asks for; the output depends on the last character alone. */
static int letters, digits;

int main(void) {
    char line[40];
    if (!fgets(line, sizeof line, stdin))
        return 1;
    size_t n = strlen(line) - 1;
    for (size_t i = 0; i < 8; i++) {
        if (line[i] >= 'a')
            letters++;
        if (line[i] <= '9')
            digits++;
    }
    puts(line[7] == '!' ? "loud" : "quiet");
    return n > 30;
}
