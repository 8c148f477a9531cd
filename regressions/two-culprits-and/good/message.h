/* Messages of the domain name system, read from a dump in hexadecimal digits. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stddef.h>
#include <stdint.h>

enum { HEADER = 12, NAME_ROOM = 256, MESSAGE_MOST = 65535 };

struct room {
    struct room *next;
    char bytes[];
};

struct message {
    unsigned char *bytes;
    size_t length;
    size_t at;
    const char *problem; /* the first one */
    size_t broken;       /* where the record starts that has it */
    struct room *rooms;  /* memory that lives as long as the message */
};

/* 0 if the file cannot be read or is not a dump. */
int message_load(struct message *message, const char *path);
void message_free(struct message *message);
void message_fail(struct message *message, const char *problem);

/* The next number; 0 past the end, which is a problem. */
unsigned message_u8(struct message *message);
unsigned message_u16(struct message *message);
uint32_t message_u32(struct message *message);

char *message_room(struct message *message, size_t size);

/* ---- name.c */

/* The name at `*at`, with dots; moves `*at` behind it. */
const char *name_read(struct message *message, size_t *at);
/* Compares two names in the message, letters in either case. */
int names_equal(struct message *message, size_t a, size_t b);

#endif
