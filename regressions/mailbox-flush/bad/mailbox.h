#ifndef MAILBOX_H
#define MAILBOX_H

#define BATCH 3

struct mailbox {
    char owner[16];
    char *waiting[BATCH];
    int count;
    int delivered;
};

/* Keeps a copy of the text; delivers when a batch is full. */
void mailbox_add(struct mailbox *box, const char *text);
/* Delivers what is waiting. */
void mailbox_flush(struct mailbox *box);

#endif
