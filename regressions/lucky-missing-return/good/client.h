#ifndef CLIENT_H
#define CLIENT_H

#include <stdio.h>

#define MAX_CLIENTS 32

struct client {
    char name[24];
    int meetings;
    int minutes;
    long cents;
};

struct clients {
    struct client list[MAX_CLIENTS];
    int count;
};

/* Adds to what a client owes; returns 0 if there are too many. */
int clients_add(struct clients *c, const char *name, int minutes, long cents);

/* What all owe together, in cents. */
long clients_total(const struct clients *c);

/* Prints what each owes, in the order of names. */
void clients_print(struct clients *c, FILE *out);

#endif
