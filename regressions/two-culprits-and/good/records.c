#include "records.h"

#include <stdio.h>
#include <string.h>

enum type {
    TYPE_A = 1,
    TYPE_NS = 2,
    TYPE_CNAME = 5,
    TYPE_SOA = 6,
    TYPE_MX = 15,
    TYPE_TXT = 16,
    TYPE_AAAA = 28,
};

static const char *type_name(unsigned type) {
    switch (type) {
    case TYPE_A:
        return "A";
    case TYPE_NS:
        return "NS";
    case TYPE_CNAME:
        return "CNAME";
    case TYPE_SOA:
        return "SOA";
    case TYPE_MX:
        return "MX";
    case TYPE_TXT:
        return "TXT";
    case TYPE_AAAA:
        return "AAAA";
    default:
        return "?";
    }
}

static const char *status_name(unsigned status) {
    static const char *const names[] = {"no error", "format error", "server failure", "no such name",
                                        "not implemented", "refused"};
    return status < sizeof names / sizeof names[0] ? names[status] : "unknown";
}

static void show_text(struct message *message, size_t end) {
    while (message->at < end && message->problem == NULL) {
        unsigned count = message_u8(message);
        printf(" \"");
        while (count-- > 0)
            putchar((int)message_u8(message));
        printf("\"");
    }
}

static void show_data(struct message *message, unsigned type, size_t end) {
    switch (type) {
    case TYPE_A:
        for (int i = 0; i < 4; i++)
            printf("%c%u", i ? '.' : ' ', message_u8(message));
        break;
    case TYPE_AAAA:
        for (int i = 0; i < 8; i++)
            printf("%c%x", i ? ':' : ' ', message_u16(message));
        break;
    case TYPE_MX:
        printf(" %u", message_u16(message));
        printf(" %s", name_read(message, &message->at));
        break;
    case TYPE_NS:
    case TYPE_CNAME:
        printf(" %s", name_read(message, &message->at));
        break;
    case TYPE_SOA:
        printf(" %s", name_read(message, &message->at));
        printf(" %s", name_read(message, &message->at));
        for (int i = 0; i < 5; i++)
            printf(" %u", (unsigned)message_u32(message));
        break;
    case TYPE_TXT:
        show_text(message, end);
        break;
    default:
        printf(" %zu bytes", end - message->at);
        break;
    }
    message->at = end;
}

static void show_record(struct message *message, int asked) {
    size_t start = message->at, end;
    const char *owner = name_read(message, &message->at);
    unsigned type = message_u16(message);
    unsigned class = message_u16(message);
    unsigned long life = message_u32(message);
    unsigned length = message_u16(message);
    end = message->at + length;
    if (end > message->length)
        message_fail(message, "a record is cut off");
    if (message->problem) {
        message->broken = start;
        return;
    }
    printf("  %s %lu", owner, life);
    if (asked && !names_equal(message, HEADER, start))
        printf(" (not asked for)");
    if (class != 1)
        printf(" class %u", class);
    printf(" %s", type_name(type));
    show_data(message, type, end);
    printf("\n");
}

static void show_section(struct message *message, const char *title, unsigned count, int asked) {
    if (count == 0)
        return;
    printf("%s:\n", title);
    while (count-- > 0 && message->problem == NULL)
        show_record(message, asked);
}

int records_show(struct message *message) {
    unsigned id = message_u16(message);
    unsigned flags = message_u16(message);
    unsigned questions = message_u16(message);
    unsigned answers = message_u16(message);
    unsigned authorities = message_u16(message);
    unsigned others = message_u16(message);
    printf("message %u: %s, %s\n", id, flags & 0x8000 ? "response" : "query", status_name(flags & 15));
    for (unsigned i = 0; i < questions && message->problem == NULL; i++) {
        const char *name = name_read(message, &message->at);
        unsigned type = message_u16(message);
        message_u16(message);
        printf("asked for %s %s\n", name, type_name(type));
    }
    show_section(message, "answers", answers, questions == 1);
    show_section(message, "authorities", authorities, 0);
    show_section(message, "others", others, 0);
    return message->problem == NULL;
}
