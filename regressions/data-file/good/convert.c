/* Converts amounts to base units by a table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_UNITS 100

struct unit {
    char name[20];
    char kind[20];
    double factor;
};

static struct unit units[MAX_UNITS];
static int count;

static int load(const char *path) {
    FILE *file = fopen(path, "r");
    char line[200];
    if (file == NULL) {
        perror(path);
        return -1;
    }
    while (count < MAX_UNITS && fgets(line, sizeof line, file)) {
        struct unit *unit = &units[count];
        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (sscanf(line, "%19s %19s %lf", unit->name, unit->kind, &unit->factor) == 3)
            count++;
    }
    fclose(file);
    return 0;
}

static const struct unit *find(const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

static const char *base_of(const char *kind) {
    for (int i = 0; i < count; i++)
        if (units[i].factor == 1.0 && strcmp(units[i].kind, kind) == 0)
            return units[i].name;
    return "?";
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: convert TABLE [AMOUNT UNIT]...\n");
        return 2;
    }
    if (load(argv[1]) < 0)
        return 1;
    for (int i = 2; i + 1 < argc; i += 2) {
        const struct unit *unit = find(argv[i + 1]);
        double amount = strtod(argv[i], NULL);
        if (unit == NULL) {
            printf("unknown unit %s\n", argv[i + 1]);
            continue;
        }
        printf("%g %s = %g %s\n", amount, unit->name, amount * unit->factor, base_of(unit->kind));
    }
    return 0;
}
