// Duff's device: a switch into the middle of a loop.
// expect: t
// expect: the qu
// expect: the quick b
// expect: the quick brown
// expect: the quick brown fox j
// expect: the quick brown fox jumps
// expect: the quick brown fox jumps over
// expect: the quick brown fox jumps over the l
#include <stdio.h>

static void copy(char *to, const char *from, int n) {
    int rounds = (n + 7) / 8;
    switch (n % 8) {
    case 0: do { *to++ = *from++; __attribute__((fallthrough));
    case 7: *to++ = *from++; __attribute__((fallthrough));
    case 6: *to++ = *from++; __attribute__((fallthrough));
    case 5: *to++ = *from++; __attribute__((fallthrough));
    case 4: *to++ = *from++; __attribute__((fallthrough));
    case 3: *to++ = *from++; __attribute__((fallthrough));
    case 2: *to++ = *from++; __attribute__((fallthrough));
    case 1: *to++ = *from++;
        } while (--rounds > 0);
    }
}

int main(void) {
    const char text[] = "the quick brown fox jumps over the lazy dog";
    for (int n = 1; n < 40; n += 5) {
        char out[64] = {0};
        copy(out, text, n);
        puts(out);
    }
    return 0;
}
