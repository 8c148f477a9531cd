#include "message.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int digit(int c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static void append(struct message *message, int byte) {
    if (message->length % 512 == 0)
        message->bytes = realloc(message->bytes, message->length + 512);
    message->bytes[message->length++] = (unsigned char)byte;
}

int message_load(struct message *message, const char *path) {
    int c, half = -1;
    FILE *file = fopen(path, "r");
    memset(message, 0, sizeof *message);
    if (file == NULL)
        return 0;
    while ((c = getc(file)) != EOF) {
        if (c == '#') {
            while (c != '\n' && c != EOF)
                c = getc(file);
            continue;
        }
        if (isspace(c))
            continue;
        if (digit(c) < 0 || message->length >= MESSAGE_MOST) {
            fclose(file);
            return 0;
        }
        if (half < 0) {
            half = digit(c);
        } else {
            append(message, half * 16 + digit(c));
            half = -1;
        }
    }
    fclose(file);
    return half < 0;
}

void message_free(struct message *message) {
    while (message->rooms) {
        struct room *next = message->rooms->next;
        free(message->rooms);
        message->rooms = next;
    }
    free(message->bytes);
}

void message_fail(struct message *message, const char *problem) {
    if (message->problem == NULL)
        message->problem = problem;
}

unsigned message_u8(struct message *message) {
    if (message->at >= message->length) {
        message_fail(message, "the message is cut off");
        return 0;
    }
    return message->bytes[message->at++];
}

unsigned message_u16(struct message *message) {
    unsigned high = message_u8(message);
    return high << 8 | message_u8(message);
}

uint32_t message_u32(struct message *message) {
    uint32_t high = message_u16(message);
    return high << 16 | message_u16(message);
}

char *message_room(struct message *message, size_t size) {
    struct room *room = calloc(1, sizeof *room + size);
    room->next = message->rooms;
    message->rooms = room;
    return room->bytes;
}
