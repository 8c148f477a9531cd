/* Names are labels, each with its length before it; two high bits instead of a length
   say that the rest is elsewhere in the message. */
#include "message.h"

#include <ctype.h>
#include <string.h>

enum { POINTER = 0xc0, MOST_POINTERS = 32 };

/* The start of the next label at or after `at`, pointers followed. 0: a broken name. */
static size_t label(struct message *message, size_t at, int *pointers) {
    while (at < message->length && (message->bytes[at] & POINTER) == POINTER) {
        if (at + 1 >= message->length || ++*pointers > MOST_POINTERS) {
            message_fail(message, "a name points nowhere");
            return 0;
        }
        at = (size_t)(message->bytes[at] & 0x3f) << 8 | message->bytes[at + 1];
    }
    if (at >= message->length || at + message->bytes[at] >= message->length) {
        message_fail(message, "a name is cut off");
        return 0;
    }
    return at;
}

/* Behind the name, which ends with its first pointer. */
static size_t behind(struct message *message, size_t at) {
    while (at < message->length && message->bytes[at] != 0) {
        if ((message->bytes[at] & POINTER) == POINTER)
            return at + 2;
        at += 1 + (size_t)message->bytes[at];
    }
    return at + 1;
}

const char *name_read(struct message *message, size_t *at) {
    char *text = message_room(message, NAME_ROOM);
    size_t length = 0;
    int pointers = 0;
    size_t place = label(message, *at, &pointers);
    *at = behind(message, *at);
    while (place && message->bytes[place] != 0) {
        size_t count = message->bytes[place];
        if (length + count + 2 > NAME_ROOM) {
            message_fail(message, "a name is too long");
            break;
        }
        memcpy(text + length, message->bytes + place + 1, count);
        length += count;
        text[length++] = '.';
        place = label(message, place + 1 + count, &pointers);
    }
    if (length == 0)
        text[length++] = '.';
    text[length] = '\0';
    return text;
}

int names_equal(struct message *message, size_t a, size_t b) {
    int pointers = 0;
    a = label(message, a, &pointers);
    b = label(message, b, &pointers);
    while (a && b && message->bytes[a] == message->bytes[b]) {
        size_t count = message->bytes[a];
        if (count == 0)
            return 1;
        for (size_t i = 1; i <= count; i++)
            if (tolower(message->bytes[a + i]) != tolower(message->bytes[b + i]))
                return 0;
        a = label(message, a + 1 + count, &pointers);
        b = label(message, b + 1 + count, &pointers);
    }
    return 0;
}
