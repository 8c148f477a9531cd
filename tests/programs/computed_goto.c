// A bytecode interpreter with a jump table of label addresses.
// expect: 797161
#include <stdio.h>

enum { PUSH, ADD, MUL, DUP, DEC, JNZ, SWAP, HALT };

static long run(const int *code) {
    static const void *const jump[] = {&&push, &&add, &&mul, &&dup, &&dec, &&jnz, &&swap, &&halt};
    long stack[16], *sp = stack;
    const int *pc = code;
    goto *jump[*pc++];
push: *sp++ = *pc++; goto *jump[*pc++];
add: sp--; sp[-1] += sp[0]; goto *jump[*pc++];
mul: sp--; sp[-1] *= sp[0]; goto *jump[*pc++];
dup: *sp = sp[-1]; sp++; goto *jump[*pc++];
dec: sp[-1]--; goto *jump[*pc++];
jnz: pc = sp[-1] ? code + *pc : pc + 1; goto *jump[*pc++];
swap: { long t = sp[-1]; sp[-1] = sp[-2]; sp[-2] = t; } goto *jump[*pc++];
halt: return sp[-2];
}

int main(void) {
    const int code[] = {PUSH, 1, PUSH, 12, SWAP, PUSH, 3, MUL, PUSH, 1, ADD, SWAP, DEC, JNZ, 4, HALT};
    printf("%ld\n", run(code));
    return 0;
}
