// Weak symbols that are absent, aliases, ifunc-free dispatch, static inline.
// expect: -1 5 7
// expect: 21 1
#include <stdio.h>

int absent(int) __attribute__((weak));
int real_name(int x) { return x + 1; }
int other_name(int x) __attribute__((alias("real_name")));
__attribute__((weak)) int overridable(void) { return 7; }
static inline __attribute__((always_inline)) int inlined(int x) { return x * 3; }
__attribute__((noinline)) static int kept(int x) { return inlined(x) + other_name(x); }

int main(void) {
    printf("%d %d %d\n", absent ? absent(1) : -1, other_name(4), overridable());
    printf("%d %d\n", kept(5), &real_name == &other_name);
    return 0;
}
