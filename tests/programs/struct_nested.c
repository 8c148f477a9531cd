// Nested structs, arrays of structs, anonymous members, flexible arrays.
// expect: line 0 0 0 0
// expect: circle 1 -1 0.5
// expect: line 2 0 0 2
// expect: circle 3 -3 1.5
// expect: 220
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point { short x, y; };
struct line { struct point from, to; };
struct shape { int kind; union { struct line line; struct { struct point centre; float radius; }; }; };
struct bag { int n; struct line lines[]; };

static struct shape make(int i) {
    struct shape s = {.kind = i & 1};
    if (s.kind) { s.centre = (struct point){(short)i, (short)-i}; s.radius = (float)i / 2; }
    else s.line = (struct line){{0, (short)i}, {(short)i, 0}};
    return s;
}

static struct line swap(struct line l) { return (struct line){l.to, l.from}; }

int main(void) {
    for (int i = 0; i < 4; i++) {
        struct shape s = make(i);
        if (s.kind) printf("circle %d %d %g\n", s.centre.x, s.centre.y, s.radius);
        else { struct line l = swap(s.line); printf("line %d %d %d %d\n", l.from.x, l.from.y, l.to.x, l.to.y); }
    }
    struct bag *b = malloc(sizeof *b + 5 * sizeof b->lines[0]);
    b->n = 5;
    for (int i = 0; i < b->n; i++) b->lines[i] = make(i * 2).line;
    int sum = 0;
    for (int i = 0; i < b->n; i++) sum += b->lines[i].to.x + b->lines[i].from.y * 10;
    printf("%d\n", sum);
    free(b);
    return 0;
}
