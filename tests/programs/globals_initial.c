// Initialised data with relocations, zero data, constants, statics in functions.
// expect: 15 105
// expect: 0
// expect: 9 two banner
// expect: 1 2 3 4.25
#include <stdio.h>

static int counter = 10;
static int zeros[1000];
static const char *const names[] = {"zero", "one", "two"};
static struct link { int v; struct link *next; } c = {3, 0}, b = {2, &c}, a = {1, &b};
static int *inside = &zeros[500];
static double weights[] = {0.5, 1.5, 2.5};
const char banner[] = "banner";

static int next(void) {
    static int state = 100;
    static int *where = &counter;
    *where += 1;
    return state++;
}

int main(void) {
    for (int i = 0; i < 5; i++) next();
    printf("%d %d\n", counter, next());
    int s = 0;
    for (int i = 0; i < 1000; i++) s |= zeros[i];
    printf("%d\n", s);
    *inside = 9;
    printf("%d %s %s\n", zeros[500], names[2], banner);
    for (struct link *l = &a; l; l = l->next) printf("%d ", l->v);
    printf("%g\n", weights[0] + weights[1] * weights[2]);
    return 0;
}
