#include "sieve.h"

#include <stddef.h>

static int has_port(const struct packet *packet) {
    return packet->protocol == TCP || packet->protocol == UDP;
}

struct rule *match_rules(struct rules *rules, const struct packet *packet) {
    for (int i = 0; i < rules->count; i++) {
        struct rule *rule = &rules->list[i];
        if (rule->protocol != ANY && rule->protocol != packet->protocol)
            continue;
        if (!in_network(packet->from, &rule->from) || !in_network(packet->to, &rule->to))
            continue;
        if (has_port(packet) && (packet->port < rule->ports.first || packet->port > rule->ports.last))
            continue;
        if (rule->established && !packet->established)
            continue;
        rule->hits++;
        return rule;
    }
    rules->others++;
    return NULL;
}
