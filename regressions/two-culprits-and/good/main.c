#include <stdio.h>

#include "message.h"
#include "records.h"

int main(int argc, char **argv) {
    int status = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: answers DUMP...\n");
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        struct message message;
        if (!message_load(&message, argv[i])) {
            fprintf(stderr, "%s: not a dump\n", argv[i]);
            status = 1;
        } else if (!records_show(&message)) {
            printf("%s, at byte %zu\n", message.problem, message.broken);
            status = 1;
        }
        message_free(&message);
    }
    return status;
}
