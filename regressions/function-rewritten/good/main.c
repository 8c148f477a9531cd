#include "sieve.h"

int main(int argc, char **argv) {
    static struct rules rules;
    struct packet packet;
    FILE *in;
    int wrong, got, line = 0;

    if (argc != 3) {
        fprintf(stderr, "usage: sieve RULES PACKETS\n");
        return 2;
    }
    in = fopen(argv[1], "r");
    if (in == NULL) {
        perror(argv[1]);
        return 2;
    }
    wrong = load_rules(&rules, in);
    fclose(in);
    if (wrong != 0) {
        fprintf(stderr, "%s:%d: cannot be understood\n", argv[1], wrong);
        return 2;
    }
    in = fopen(argv[2], "r");
    if (in == NULL) {
        perror(argv[2]);
        return 2;
    }
    while ((got = next_packet(&packet, in, &line)) != 0) {
        if (got < 0)
            fprintf(stderr, "%s:%d: not a packet\n", argv[2], line);
        else
            report_packet(&packet, &rules, match_rules(&rules, &packet));
    }
    fclose(in);
    report_hits(&rules);
    return 0;
}
