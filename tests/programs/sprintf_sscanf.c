// Formatting into memory and parsing out of it.
// expect: 20 <-5 word  3.14 q ff %>
// expect: 5: -5 word 3.14 q 255
// expect: 15 <too lon>
// expect: 48 <    1|2    |abc|+7| 8|0xff|0002.500|1.234568e+04>
// expect: 2 12 34 5
// expect: 2 abc 123
// expect: 3 -3 123456789012 200
#include <stdio.h>
#include <string.h>

int main(void) {
    char buf[128];
    int n = sprintf(buf, "%d %s %5.2f %c %x %%", -5, "word", 3.14159, 'q', 255);
    printf("%d <%s>\n", n, buf);
    int i;
    char word[16], c;
    double d;
    unsigned x;
    int got = sscanf(buf, "%d %15s %lf %c %x", &i, word, &d, &c, &x);
    printf("%d: %d %s %g %c %u\n", got, i, word, d, c, x);
    n = snprintf(buf, 8, "%s", "too long for it");
    printf("%d <%s>\n", n, buf);
    n = sprintf(buf, "%*d|%-*d|%.*s|%+d|% d|%#x|%08.3f|%e", 5, 1, 5, 2, 3, "abcdef", 7, 8, 255, 2.5, 12345.678);
    printf("%d <%s>\n", n, buf);
    int a, b, used;
    got = sscanf("12-34rest", "%d-%d%n", &a, &b, &used);
    printf("%d %d %d %d\n", got, a, b, used);
    char set[16], until[16];
    got = sscanf("abc123;tail", "%15[a-z]%15[^;]", set, until);
    printf("%d %s %s\n", got, set, until);
    short h;
    long l;
    unsigned char hh;
    got = sscanf("-3 123456789012 200 xyz", "%hd %ld %hhu %d", &h, &l, &hh, &i);
    printf("%d %d %ld %d\n", got, h, l, hh);
    return 0;
}
