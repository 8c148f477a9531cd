// opaque: call_safely call_often
// expect: 0 5
// expect: 1 9
// expect: 2 4
// expect: 3 6
// expect: 4 -1
// expect: 0 18
// expect: 2 -990
// expect: 4 -3000
// expect: thrown 9
// expect: 24
// exit: 24
#include <cstdio>
#include <cstdlib>
#include <string>

// Exceptions that pass through code without a model, or are caught there.
extern "C" int call_safely(int (*f)(int), int x) {
    asm goto("" : : : : never);
    try {
        return f(x);
    } catch (...) {
        return -1;
    }
never:
    return 0;
}

extern "C" int call_often(int (*f)(int), int x) {
    asm goto("" : : : : never);
    {
        int r = 0;
        for (int i = 0; i < 3; i++) try {
                r += f(x + i);
            } catch (...) {
                r -= 1000;
            }
        return r;
    }
never:
    return 0;
}

static int total;

static int inner(int x) {
    std::string s(x, 'y');
    if (x > 3) throw std::string("big");
    total += x;
    return x + (int)s.size();
}

static int deep(int x) {
    std::string t = std::to_string(x);
    return inner(x) + call_safely(inner, x + 2) + (int)t.size();
}

static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    if (x == 9) throw x;
    return x - y;
}

int main() {
    for (int i = 0; i < 5; i++) std::printf("%d %d\n", i, call_safely(deep, i));
    for (int i = 0; i < 5; i += 2) std::printf("%d %d\n", i, call_often(deep, i));
    int a[] = {3, 1, 9, 2, 7};
    try {
        std::qsort(a, 5, sizeof *a, compare);
    } catch (int v) {
        std::printf("thrown %d\n", v);
    }
    std::printf("%d\n", total);
    return total;
}
