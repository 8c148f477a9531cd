// args: one two=2 --three -4 ünï
// expect: 1 one
// expect: 2 two=2
// expect: 3 --three
// expect: 4 -4
// expect: 5 ünï
// expect: 22 1
// expect: a -
// expect: b value
// expect: 4
// expect: One
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <getopt.h>

int main(int argc, char **argv) {
    size_t total = 0;
    for (int i = 1; i < argc; i++) { printf("%d %s\n", i, argv[i]); total += strlen(argv[i]); }
    printf("%zu %d\n", total, argv[argc] == NULL);
    char *fake[] = {"x", "-a", "-b", "value", "rest", NULL};
    int c;
    while ((c = getopt(5, fake, "ab:")) != -1) printf("%c %s\n", c, optarg && c == 'b' ? optarg : "-");
    printf("%d\n", optind);
    argv[1][0] = 'O';
    puts(argv[1]);
    return 0;
}
