// signal: ILL
// expect: before
#include <stdio.h>

int main(int argc, char **argv) {
    (void)argv;
    setvbuf(stdout, NULL, _IONBF, 0);
    puts("before");
    if (argc) __builtin_trap();
    puts("never");
    return 0;
}
