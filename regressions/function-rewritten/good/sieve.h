/* A packet filter: the first rule that fits a packet decides on it. */
#ifndef SIEVE_H
#define SIEVE_H

#include <stdint.h>
#include <stdio.h>

enum protocol { ANY, TCP, UDP, ICMP };
enum action { DENY, ALLOW };
enum { MOST_RULES = 128 };

struct network {
    uint32_t address;
    int bits; /* of the address that count */
};

struct ports {
    int first, last;
};

struct packet {
    enum protocol protocol;
    uint32_t from, to;
    int port;
    int established; /* it belongs to a connection that was let through */
};

struct rule {
    int number;
    enum action action;
    enum protocol protocol;
    struct network from, to;
    struct ports ports;
    int established; /* only for packets that are */
    long hits;
};

struct rules {
    struct rule list[MOST_RULES];
    int count;
    enum action otherwise; /* if no rule fits */
    long others;
};

int parse_address(const char *text, uint32_t *address);
int parse_network(const char *text, struct network *network);
int in_network(uint32_t address, const struct network *network);
int parse_protocol(const char *text, enum protocol *protocol);
void format_address(uint32_t address, char *text, size_t size);

/* Each returns 0, or the number of the line that is wrong. */
int load_rules(struct rules *rules, FILE *in);
int next_packet(struct packet *packet, FILE *in, int *line);

/* The rule that decides on a packet, or null. */
struct rule *match_rules(struct rules *rules, const struct packet *packet);

void report_packet(const struct packet *packet, const struct rules *rules, const struct rule *rule);
void report_hits(const struct rules *rules);

#endif
