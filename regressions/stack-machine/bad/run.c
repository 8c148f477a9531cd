#include "vm.h"

#include <stdio.h>
#include <stdlib.h>

static void fail(const struct vm *vm, const char *what) {
    fprintf(stderr, "at %d: %s\n", vm->at, what);
    exit(3);
}

static void push(struct vm *vm, long value) {
    if (vm->depth == MAX_STACK)
        fail(vm, "the stack is full");
    vm->stack[vm->depth++] = value;
}

static long pop(struct vm *vm) {
    if (vm->depth == 0)
        fail(vm, "the stack is empty");
    return vm->stack[--vm->depth];
}

static void swap(struct vm *vm) {
    long b = pop(vm);
    long a = pop(vm);
    push(vm, b);
    push(vm, a);
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
        push(vm, b % a);
        break;
    default:
        fail(vm, "no arithmetic");
    }
}

/* Fetches, counts, executes. */
int run(struct vm *vm) {
    long value;
    vm->at = 0;
    vm->steps = 0;
    while (vm->at < vm->length) {
        const struct instr *now = &vm->code[vm->at++];
        if (++vm->steps > MAX_STEPS)
            return 1;
        switch (now->op) {
        case OP_HALT:
            return 0;
        case OP_PUSH:
            push(vm, now->arg);
            break;
        case OP_DUP:
            value = pop(vm);
            push(vm, value);
            push(vm, value);
            break;
        case OP_JMP:
            vm->at = (int)now->arg;
            break;
        case OP_JZ:
            value = pop(vm);
            if (value == 0)
                vm->at = (int)now->arg;
            break;
        case OP_SWAP:
            swap(vm);
            break;
        case OP_NEG:
            push(vm, -pop(vm));
            break;
        case OP_PRINT:
            printf("%ld\n", pop(vm));
            break;
        default:
            arith(vm, now->op);
            break;
        }
    }
    return 1;
}
