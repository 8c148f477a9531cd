// Unbuffered reading in odd pieces.
// stdin: The quick brown fox jumps over the lazy dog.
// stdin: Pack my box with five dozen liquor jugs.
// expect: 18 The qui|ck brown fo
// expect: 3183507088
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void) {
    char a[7], b[11], buf[13];
    struct iovec v[2] = {{a, sizeof a}, {b, sizeof b}};
    ssize_t n = readv(0, v, 2);
    printf("%zd %.7s|%.11s\n", n, a, b);
    unsigned h = 7;
    while ((n = read(0, buf, sizeof buf)) > 0)
        for (ssize_t i = 0; i < n; i++) h = h * 33 ^ (unsigned char)buf[i];
    printf("%u\n", h);
    return 0;
}
