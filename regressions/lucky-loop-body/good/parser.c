#include "parser.h"

#include <string.h>

void parser_init(struct parser *p) {
    memset(p, 0, sizeof *p);
}

static void ground(struct parser *p, struct screen *s, char c) {
    switch (c) {
    case '\033':
        p->state = ESCAPE;
        break;
    case '\n':
        s->column = 0;
        screen_line_feed(s);
        break;
    case '\r':
        s->column = 0;
        break;
    case '\b':
        if (s->column > 0)
            s->column--;
        break;
    case '\t':
        screen_move(s, s->row, (s->column / 8 + 1) * 8);
        break;
    default:
        if ((unsigned char)c >= ' ')
            screen_put(s, c);
    }
}

static void escape(struct parser *p, struct screen *s, char c) {
    p->state = GROUND;
    switch (c) {
    case '[':
        memset(&p->parameters, 0, sizeof p->parameters);
        p->state = SEQUENCE;
        break;
    case 'c':
        screen_reset(s);
        break;
    case 'D':
        screen_line_feed(s);
        break;
    case 'M':
        if (s->row == s->top)
            screen_rows_down(s, s->top, 1);
        else if (s->row > 0)
            s->row--;
        break;
    default:
        p->unknown++;
    }
}

static void sequence(struct parser *p, struct screen *s, char c) {
    struct parameters *numbers = &p->parameters;
    if (c >= '0' && c <= '9') {
        int *value;
        if (numbers->count == 0)
            numbers->count = 1;
        value = &numbers->value[numbers->count - 1];
        if (*value < 1000)
            *value = *value * 10 + (c - '0');
    } else if (c == ';') {
        if (numbers->count == 0)
            numbers->count = 1;
        if (numbers->count < MAX_PARAMETERS)
            numbers->count++;
    } else {
        p->state = GROUND;
        if (!control_sequence(s, numbers, c))
            p->unknown++;
    }
}

void parser_feed(struct parser *p, struct screen *s, char c) {
    switch (p->state) {
    case GROUND:
        ground(p, s, c);
        break;
    case ESCAPE:
        escape(p, s, c);
        break;
    case SEQUENCE:
        sequence(p, s, c);
        break;
    }
}
