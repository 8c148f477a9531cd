/*
 * The header of a packet: six bytes in, accepted or not, and to which queue.
 *
 * As in a router, everything that is seen is counted, by kind and by size, and flows are sampled. The counters are
 * read by another program; what comes out here is the decision alone.
 */
#include <stdio.h>

enum { CONTROL = 1, DATA = 2, PROBE = 3 };

struct counters {
    unsigned seen, control, data, probes, unknown;
    unsigned tiny, small, large;
    unsigned fragments, last_fragments;
    unsigned sampled;
    int loudest, ports[8];
};

struct header {
    int version, kind, size, flags, from, to;
};

static void count(struct counters *c, const struct header *h) {
    c->seen++;
    switch (h->kind) {
    case CONTROL: c->control++; break;
    case DATA: c->data++; break;
    case PROBE: c->probes++; break;
    default: c->unknown++;
    }
    if (h->size < 16)
        c->tiny++;
    else if (h->size < 100)
        c->small++;
    else
        c->large++;
    if (h->flags & 1) {
        c->fragments++;
        if (!(h->flags & 2))
            c->last_fragments++;
    }
    int port = h->from & 7;
    c->ports[port]++;
    if (c->ports[port] > c->ports[c->loudest])
        c->loudest = port;
    if (((h->from ^ h->to) & 15) == 3)
        c->sampled++;
}

static const char *refused(const struct header *h) {
    if (h->version != 4)
        return "version";
    if (h->kind == CONTROL && h->from > 9)
        return "not trusted";
    if (h->from == h->to)
        return "loop";
    return NULL;
}

static int queue_of(const struct header *h) {
    if (h->kind == CONTROL)
        return 0;
    if (h->size < 64)
        return 1;
    return 2;
}

int main(void) {
    static struct counters counters;
    int in[6];
    for (int n = 0; n < 6; n++) {
        in[n] = getchar();
        if (in[n] == EOF) {
            puts("short");
            return 1;
        }
    }
    struct header h = {in[0], in[1], in[2], in[3], in[4], in[5]};
    count(&counters, &h);
    const char *why = refused(&h);
    if (why) {
        printf("refused: %s\n", why);
        return 1;
    }
    printf("queue %d\n", queue_of(&h));
    return 0;
}
