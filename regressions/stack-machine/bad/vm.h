#ifndef VM_H
#define VM_H

#define MAX_CODE 512
#define MAX_STACK 128
#define MAX_STEPS 100000

enum op {
    OP_HALT,
    OP_PUSH,
    OP_DUP,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_JMP,
    OP_JZ,
    OP_PRINT,
    OP_SWAP,
    OP_NEG,
    OP_COUNT
};

struct instr {
    enum op op;
    long arg;
};

struct vm {
    struct instr code[MAX_CODE];
    int length;
    int at;
    long stack[MAX_STACK];
    int depth;
    long steps;
};

/* Translates a program; 0 if it is sound. */
int assemble(struct vm *vm, const char *path);
/* Runs it from the beginning; 0 if it halts. */
int run(struct vm *vm);
const char *op_name(enum op op);
int op_has_arg(enum op op);

#endif
