#include "vm.h"

#include <stdio.h>
#include <stdlib.h>

static void fail(const struct vm *machine, const char *what) {
    fprintf(stderr, "at %d: %s\n", machine->pc, what);
    exit(3);
}

static void push(struct vm *machine, long value) {
    if (machine->depth == MAX_STACK)
        fail(machine, "the stack is full");
    machine->stack[machine->depth++] = value;
}

static long pop(struct vm *machine) {
    if (machine->depth == 0)
        fail(machine, "the stack is empty");
    return machine->stack[--machine->depth];
}

static void swap(struct vm *machine) {
    long right = pop(machine);
    long left = pop(machine);
    push(machine, right);
    push(machine, left);
}

static void arith(struct vm *machine, enum op op) {
    long right = pop(machine);
    long left = pop(machine);
    switch (op) {
    case OP_ADD:
        push(machine, left + right);
        break;
    case OP_SUB:
        push(machine, left - right);
        break;
    case OP_MUL:
        push(machine, left * right);
        break;
    case OP_DIV:
        if (right == 0)
            fail(machine, "division by zero");
        push(machine, left / right);
        break;
    case OP_MOD:
        if (right == 0)
            fail(machine, "division by zero");
        push(machine, right % left);
        break;
    default:
        fail(machine, "no arithmetic");
    }
}

/* Fetches, counts, executes. */
int run(struct vm *machine) {
    long value;
    machine->pc = 0;
    machine->steps = 0;
    while (machine->pc < machine->len) {
        const struct instr *now = &machine->code[machine->pc++];
        if (++machine->steps > MAX_STEPS)
            return 1;
        switch (now->op) {
        case OP_HALT:
            return 0;
        case OP_PUSH:
            push(machine, now->arg);
            break;
        case OP_DUP:
            value = pop(machine);
            push(machine, value);
            push(machine, value);
            break;
        case OP_JMP:
            machine->pc = (int)now->arg;
            break;
        case OP_JZ:
            value = pop(machine);
            if (value == 0)
                machine->pc = (int)now->arg;
            break;
        case OP_SWAP:
            swap(machine);
            break;
        case OP_NEG:
            push(machine, -pop(machine));
            break;
        case OP_PRINT:
            printf("%ld\n", pop(machine));
            break;
        default:
            arith(machine, now->op);
            break;
        }
    }
    return 1;
}
