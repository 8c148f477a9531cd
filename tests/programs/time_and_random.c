// Values that differ from run to run must come out of the recording.
// expect: 1 1 1
// expect: 1
// expect: 1971-01-01 00:00:00
// expect: 3456000
// expect: 16
// expect: 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int main(void) {
    time_t t = time(NULL), u;
    time(&u);
    struct timeval tv;
    gettimeofday(&tv, NULL);
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    printf("%d %d %d\n", u >= t, tv.tv_sec >= t, ts.tv_nsec < 1000000000);
    srand((unsigned)(tv.tv_usec ^ getpid()));
    unsigned h = (unsigned)tv.tv_usec;
    for (int i = 0; i < 1000; i++) h = (h << 3 | h >> 29) ^ (unsigned)rand();
    printf("%d\n", (h | 1) != 0);
    time_t fixed = 86400 * 365;
    struct tm *g = gmtime(&fixed);
    char text[40];
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", g);
    puts(text);
    g->tm_mday += 40;
    printf("%ld\n", (long)(timegm(g) - fixed));
    FILE *f = fopen("/dev/urandom", "rb");
    unsigned char r[16];
    printf("%zu\n", fread(r, 1, 16, f));
    int odd = 0;
    for (int i = 0; i < 16; i++) odd += r[i] & 1;
    printf("%d\n", odd <= 16);
    fclose(f);
    return 0;
}
