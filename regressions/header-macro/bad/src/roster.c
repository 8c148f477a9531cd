#include "roster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int roster_add(struct roster *roster, int number, const char *name) {
    struct person *person;
    if (roster->count == MAX_PEOPLE)
        return -1;
    person = &roster->people[roster->count++];
    person->number = number;
    strncpy(person->name, name, NAME_SIZE - 1);
    person->name[NAME_SIZE - 1] = '\0';
    return 0;
}

static int by_number(const void *a, const void *b) {
    const struct person *left = a;
    const struct person *right = b;
    return (left->number > right->number) - (left->number < right->number);
}

void roster_sort(struct roster *roster) {
    qsort(roster->people, (size_t)roster->count, sizeof roster->people[0], by_number);
}

void roster_print(const struct roster *roster) {
    for (int i = 0; i < roster->count; i++)
        printf("%3d %s\n", roster->people[i].number, roster->people[i].name);
}
