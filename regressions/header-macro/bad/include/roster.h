#ifndef ROSTER_H
#define ROSTER_H

/* Longest name, with the byte at its end. */
#define NAME_SIZE 12
#define MAX_PEOPLE 50

struct person {
    int number;
    char name[NAME_SIZE];
};

struct roster {
    struct person people[MAX_PEOPLE];
    int count;
};

int roster_add(struct roster *roster, int number, const char *name);
void roster_sort(struct roster *roster);
void roster_print(const struct roster *roster);

#endif
