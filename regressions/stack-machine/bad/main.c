#include <stdio.h>
#include <stdlib.h>

#include "vm.h"

static struct vm vm;

static void listing(const struct vm *vm) {
    for (int i = 0; i < vm->length; i++) {
        const struct instr *in = &vm->code[i];
        printf("%3d %s", i, op_name(in->op));
        if (op_has_arg(in->op))
            printf(" %ld", in->arg);
        putchar('\n');
    }
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: machine PROGRAM [NUMBER]...\n");
        return 2;
    }
    if (assemble(&vm, argv[1]) < 0)
        return 2;
    for (int i = 2; i < argc; i++)
        vm.stack[vm.depth++] = atol(argv[i]);
    if (argc > 2 && argv[2][0] == '?') {
        listing(&vm);
        return 0;
    }
    if (run(&vm) != 0) {
        printf("did not halt\n");
        return 1;
    }
    printf("%d left\n", vm.depth);
    return 0;
}
