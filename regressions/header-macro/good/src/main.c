#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roster.h"

int main(void) {
    static struct roster roster;
    char line[128];
    while (fgets(line, sizeof line, stdin)) {
        char *name;
        long number = strtol(line, &name, 10);
        line[strcspn(line, "\n")] = '\0';
        while (*name == ' ')
            name++;
        if (roster_add(&roster, (int)number, name) < 0) {
            fprintf(stderr, "too many people\n");
            return 1;
        }
    }
    roster_sort(&roster);
    roster_print(&roster);
    return 0;
}
