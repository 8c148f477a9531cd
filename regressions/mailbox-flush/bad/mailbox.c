#include "mailbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mailbox_flush(struct mailbox *box) {
    if (box->count == 0)
        return;
    printf("to %s:\n", box->owner);
    for (int i = 0; i < box->count; i++) {
        printf("  %s\n", box->waiting[i]);
        free(box->waiting[i]);
    }
    box->delivered += box->count;
    box->count = 0;
}

void mailbox_add(struct mailbox *box, const char *text) {
    box->waiting[box->count++] = strdup(text);
    if (box->count == BATCH)
        mailbox_flush(box);
}
