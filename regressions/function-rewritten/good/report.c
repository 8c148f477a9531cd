#include "sieve.h"

static const char *name_of(enum protocol protocol) {
    switch (protocol) {
    case TCP: return "tcp";
    case UDP: return "udp";
    case ICMP: return "icmp";
    default: return "any";
    }
}

void report_packet(const struct packet *packet, const struct rules *rules, const struct rule *rule) {
    char from[32], to[32];
    enum action action = rule ? rule->action : rules->otherwise;

    format_address(packet->from, from, sizeof from);
    format_address(packet->to, to, sizeof to);
    printf("%-5s %-4s %s -> %s", action == ALLOW ? "allow" : "deny", name_of(packet->protocol), from, to);
    if (packet->port != 0)
        printf(":%d", packet->port);
    if (rule)
        printf(" (rule %d)\n", rule->number);
    else
        printf(" (no rule)\n");
}

void report_hits(const struct rules *rules) {
    for (int i = 0; i < rules->count; i++)
        if (rules->list[i].hits > 0)
            printf("rule %d: %ld\n", rules->list[i].number, rules->list[i].hits);
    printf("no rule: %ld\n", rules->others);
}
