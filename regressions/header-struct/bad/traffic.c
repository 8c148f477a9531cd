/* Adds up packets by sender and receiver. */
#include <stdio.h>

#include "flow.h"

int main(void) {
    char from, to;
    unsigned bytes;
    unsigned dropped = 0;
    while (scanf(" %c %c %u", &from, &to, &bytes) == 3) {
        struct flow *flow = flow_find(from, to);
        if (flow)
            flow_count(flow, bytes);
        else
            dropped++;
    }
    flow_report();
    if (dropped > 0)
        printf("%u packets dropped\n", dropped);
    return 0;
}
