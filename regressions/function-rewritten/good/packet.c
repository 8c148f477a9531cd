/* Packets, one to a line: PROTOCOL FROM TO PORT [established] */
#include "sieve.h"

#include <stdlib.h>
#include <string.h>

/* Returns 1 if there is a packet, 0 at the end, -1 if the line is wrong. */
int next_packet(struct packet *packet, FILE *in, int *line) {
    char text[128], protocol[8], from[32], to[32], more[16];
    int words;

    do {
        if (fgets(text, sizeof text, in) == NULL)
            return 0;
        (*line)++;
    } while (text[strspn(text, " \t\n")] == '\0');
    words = sscanf(text, "%7s %31s %31s %d %15s", protocol, from, to, &packet->port, more);
    if (words < 4 || parse_protocol(protocol, &packet->protocol) != 0)
        return -1;
    if (parse_address(from, &packet->from) != 0 || parse_address(to, &packet->to) != 0)
        return -1;
    packet->established = words == 5 && strcmp(more, "established") == 0;
    return 1;
}
