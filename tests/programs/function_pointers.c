// Calls through tables, struct members, and pointers to library functions.
// expect: -80
// expect: rex woof
// expect: rex woof
// expect: tom meow x2
// expect: 10 4 21 4 123 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static int (*const ops[])(int, int) = {add, sub, mul};

struct animal { const char *name; void (*speak)(const struct animal *, int); };
static void bark(const struct animal *a, int n) { while (n--) printf("%s woof\n", a->name); }
static void meow(const struct animal *a, int n) { printf("%s meow x%d\n", a->name, n); }

typedef int (*op)(int, int);
static op choose(char c) { return c == '+' ? add : c == '-' ? sub : mul; }

int main(void) {
    int v = 1;
    for (int i = 0; i < 9; i++) v = ops[i % 3](v, i + 2);
    printf("%d\n", v);
    struct animal zoo[] = {{"rex", bark}, {"tom", meow}};
    for (int i = 0; i < 2; i++) zoo[i].speak(&zoo[i], 2);
    for (const char *p = "+-*"; *p; p++) printf("%d ", choose(*p)(7, 3));
    size_t (*len)(const char *) = strlen;
    int (*convert)(const char *) = atoi;
    int (*out)(const char *, ...) = printf;
    out("%zu %d %d\n", len("four"), convert("123"), choose('+') == add);
    return 0;
}
