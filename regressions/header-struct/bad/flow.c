#include "flow.h"

#include <stddef.h>
#include <stdio.h>

#define FLOWS 4096

static struct flow flows[FLOWS];
static int used;

struct flow *flow_find(char from, char to) {
    for (int i = 0; i < used; i++)
        if (flows[i].to == to && flows[i].from == from)
            return &flows[i];
    if (used == FLOWS)
        return NULL;
    flows[used].from = from;
    flows[used].to = to;
    return &flows[used++];
}

void flow_count(struct flow *flow, unsigned bytes) {
    flow->packets++;
    flow->bytes += bytes;
}

void flow_report(void) {
    for (int i = 0; i < used; i++) {
        const struct flow *flow = &flows[i];
        printf("%c -> %c: %u packets, %u bytes\n", flow->from, flow->to, flow->packets, flow->bytes);
    }
}
