#ifndef PARSER_H
#define PARSER_H

#include "control.h"
#include "screen.h"

enum parser_state { GROUND, ESCAPE, SEQUENCE };

struct parser {
    enum parser_state state;
    struct parameters parameters;
    int unknown; /* sequences that were passed over */
};

void parser_init(struct parser *p);
void parser_feed(struct parser *p, struct screen *s, char c);

#endif
