/* A store of numbers under names, driven by commands on standard input. */
#include <stdio.h>

#include "command.h"

int main(void) {
    struct table table = {0};
    char line[200];
    int number = 0;
    table_init(&table, 8);
    while (fgets(line, sizeof line, stdin)) {
        number++;
        if (command(&table, line) < 0)
            printf("line %d makes no sense\n", number);
    }
    printf("%zu keys\n", table_live(&table));
    table_free(&table);
    return 0;
}
