// _exit does not flush; what was flushed before stays.
// exit: 7
// expect: flushed
#include <stdio.h>
#include <unistd.h>

int main(void) {
    printf("flushed\n");
    fflush(stdout);
    printf("lost");
    _exit(7);
}
