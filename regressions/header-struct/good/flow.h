#ifndef FLOW_H
#define FLOW_H

#include <stdint.h>

/* What went from one place to another. */
struct flow {
    char from;
    char to;
    uint16_t packets;
    uint32_t bytes;
};

struct flow *flow_find(char from, char to);
void flow_count(struct flow *flow, unsigned bytes);
void flow_report(void);

#endif
