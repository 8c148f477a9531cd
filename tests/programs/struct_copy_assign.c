// Whole-struct assignment becomes memcpy intrinsics; padding travels along.
// expect: 9 4.5 9;8 4 8;7 3.5 7;6 3 6;5 2.5 5;4 2 4;3 1.5 3;2 1 2;1 0.5 1;0 0 0;
// expect: 3 -1
#include <stdio.h>
#include <string.h>

struct padded { char a; double b; char c; int d[5]; };

static struct padded pool[10];

int main(void) {
    memset(pool, 0, sizeof pool);
    for (int i = 0; i < 10; i++) { pool[i].a = (char)i; pool[i].b = i * 0.5; pool[i].d[i % 5] = i; }
    for (int i = 0; i < 5; i++) { struct padded t = pool[i]; pool[i] = pool[9 - i]; pool[9 - i] = t; }
    for (int i = 0; i < 10; i++) printf("%d %g %d;", pool[i].a, pool[i].b, pool[i].d[(9 - i) % 5]);
    putchar('\n');
    struct padded *p = &pool[3], q;
    q = *p;
    p->b = -1;
    printf("%g %g\n", q.b, p->b);
    return 0;
}
