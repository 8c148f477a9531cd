#include "vm.h"

#include <stdio.h>
#include <stdlib.h>

static void fail(const struct vm *vm, const char *what) {
    fprintf(stderr, "at %d: %s\n", vm->pc, what);
    exit(3);
}

static void push(struct vm *vm, long v) {
    if (vm->sp == MAX_STACK)
        fail(vm, "stack full");
    vm->stack[vm->sp++] = v;
}

static long pop(struct vm *vm) {
    if (vm->sp == 0)
        fail(vm, "stack empty");
    return vm->stack[--vm->sp];
}

static void arith(struct vm *vm, enum op op) {
    long b = pop(vm);
    long a = pop(vm);
    switch (op) {
    case OP_ADD:
        push(vm, a + b);
        break;
    case OP_SUB:
        push(vm, a - b);
        break;
    case OP_MUL:
        push(vm, a * b);
        break;
    case OP_DIV:
        if (b == 0)
            fail(vm, "division by zero");
        push(vm, a / b);
        break;
    case OP_MOD:
        if (b == 0)
            fail(vm, "division by zero");
        push(vm, a % b);
        break;
    default:
        fail(vm, "no arithmetic");
    }
}

int run(struct vm *vm) {
    long v;
    vm->pc = 0;
    vm->steps = 0;
    while (vm->pc < vm->len) {
        const struct instr *in = &vm->code[vm->pc++];
        if (++vm->steps > MAX_STEPS)
            return 1;
        switch (in->op) {
        case OP_HALT:
            return 0;
        case OP_PUSH:
            push(vm, in->arg);
            break;
        case OP_DUP:
            v = pop(vm);
            push(vm, v);
            push(vm, v);
            break;
        case OP_JMP:
            vm->pc = (int)in->arg;
            break;
        case OP_JZ:
            v = pop(vm);
            if (v == 0)
                vm->pc = (int)in->arg;
            break;
        case OP_PRINT:
            printf("%ld\n", pop(vm));
            break;
        default:
            arith(vm, in->op);
            break;
        }
    }
    return 1;
}
