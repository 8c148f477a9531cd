/* Adds up records "name,amount" by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX 64

struct sum {
    char name[16];
    long total;
    int records;
};

static struct sum sums[MAX];
static int used;

static struct sum *sum_of(const char *name) {
    for (int i = 0; i < used; i++)
        if (strcmp(sums[i].name, name) == 0)
            return &sums[i];
    if (used == MAX)
        return NULL;
    snprintf(sums[used].name, sizeof sums[used].name, "%s", name);
    return &sums[used++];
}

int main(void) {
    char line[100];
    int odd = 0;
    while (fgets(line, sizeof line, stdin)) {
        struct sum *sum;
        char *comma = strchr(line, ',');
        if (comma == NULL) {
            odd++;
            continue;
        }
        *comma = '\0';
        sum = sum_of(line);
        if (sum) {
            sum->total += atol(comma + 1);
            sum->records++;
        }
    }
    for (int i = 0; i < used; i++)
        printf("%s: %ld in %d records\n", sums[i].name, sums[i].total, sums[i].records);
    printf("%d lines not understood\n", odd);
    return 0;
}
