/* Sorts messages, one a line with its receiver before a colon, into mailboxes. */
#include <stdio.h>
#include <string.h>

#include "mailbox.h"

#define MAX_BOXES 64

static struct mailbox boxes[MAX_BOXES];
static int box_count;

static struct mailbox *box_for(const char *owner) {
    for (int i = 0; i < box_count; i++)
        if (strcmp(boxes[i].owner, owner) == 0)
            return &boxes[i];
    if (box_count == MAX_BOXES)
        return NULL;
    snprintf(boxes[box_count].owner, sizeof boxes[box_count].owner, "%s", owner);
    return &boxes[box_count++];
}

static void finish(void) {
    for (int i = 0; i < box_count; i++) {
        fflush(stdout);
    }
}

int main(void) {
    char line[1000];
    int lost = 0;
    while (fgets(line, sizeof line, stdin)) {
        char *text = strchr(line, ':');
        struct mailbox *box;
        line[strcspn(line, "\n")] = '\0';
        if (text == NULL) {
            lost++;
            continue;
        }
        *text++ = '\0';
        while (*text == ' ')
            text++;
        box = box_for(line);
        if (box == NULL)
            lost++;
        else
            mailbox_add(box, text);
    }
    finish();
    return lost ? 1 : 0;
}
