// The writing side of stdio.
// expect: puts
// expect: pc
// expect: fputs
// expect: fprintf 1
// expect: fwrite
// expect: counted    ab|cd   |ef|x|%
// expect: -1 -2 -3 -4 -5 6 7 8
// expect: 10 12 ff FF 010 0xff
// expect: 1.500000 2 1.234568e+04 1e-10 1E+20 0x1p+0
// expect: 1.250000 (nil)
// expect: second first
// expect: dprintf 2
// expect: write
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

int main(int argc, char **argv) {
    (void)argc;
    puts("puts");
    putchar('p');
    putc('c', stdout);
    fputc('\n', stdout);
    fputs("fputs\n", stdout);
    fprintf(stdout, "fprintf %d\n", 1);
    fwrite("fwrite\n", 1, 7, stdout);
    printf("%s%n", "counted", &(int){0});
    printf(" %5s|%-5s|%.2s|%c|%%\n", "ab", "cd", "efgh", 'x');
    printf("%hhd %hd %d %ld %lld %zu %jd %td\n", (signed char)-1, (short)-2, -3, -4L, -5LL, (size_t)6, (__intmax_t)7, (argv + 8 - argv));
    printf("%u %o %x %X %#o %#x\n", 10u, 10u, 255u, 255u, 8u, 255u);
    printf("%f %.0f %e %g %G %a\n", 1.5, 2.5, 12345.6789, 1e-10, 1e20, 1.0);
    printf("%Lf %p\n", 1.25L, (void *)0);
    printf("%2$s %1$s\n", "first", "second");
    fflush(stdout);
    dprintf(1, "dprintf %d\n", 2);
    if (write(1, "write\n", 6) != 6) return 1;
    fprintf(stderr, "to stderr\n");
    perror("perror");
    return 0;
}
