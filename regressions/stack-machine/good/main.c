#include <stdio.h>
#include <stdlib.h>

#include "vm.h"

static struct vm vm;

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: machine PROGRAM [NUMBER]...\n");
        return 2;
    }
    if (assemble(&vm, argv[1]) < 0)
        return 2;
    for (int i = 2; i < argc; i++)
        vm.stack[vm.sp++] = atol(argv[i]);
    if (run(&vm) != 0) {
        printf("did not halt\n");
        return 1;
    }
    printf("%d left\n", vm.sp);
    return 0;
}
