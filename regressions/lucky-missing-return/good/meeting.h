#ifndef MEETING_H
#define MEETING_H

#define MAX_MEETINGS 128
#define NAME_ROOM 24

struct meeting {
    char client[NAME_ROOM];
    char title[40];
    int from;
    int to;
    int pause;   /* minutes that are not paid */
    int minutes; /* that are, as of the last bill */
};

struct calendar {
    struct meeting meetings[MAX_MEETINGS];
    int count;
};

/* Reads `CLIENT FROM TO PAUSE TITLE...`; returns 0 if it is not a meeting. */
int calendar_add(struct calendar *c, const char *line);

/* Minutes from the beginning to the end, without the pause. */
int meeting_length(const struct meeting *m);

/* Puts meetings in the order in which they begin. */
void calendar_sort(struct calendar *c);

/* How many meetings overlap with another one. */
int calendar_overlaps(const struct calendar *c);

#endif
