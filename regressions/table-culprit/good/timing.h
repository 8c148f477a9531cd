/* Finds out how long the blocks of a program take. */
#ifndef TIMING_H
#define TIMING_H

#include <stdint.h>
#include <stdio.h>

enum { OPCODES = 0x80 + 16, IMAGE_SIZE = 1024, MOST_BLOCKS = 64 };

enum mode { ILLEGAL, IMPLIED, IMMEDIATE, DIRECT, ABSOLUTE, INDEXED, POINTER, RELATIVE };

/* What an instruction does to the flow. */
enum flow { NORMAL, BRANCHES, LEAVES };

struct instruction {
    const char *name;
    enum mode mode;
    int cycles;
    enum flow flow;
};

extern const struct instruction instructions[OPCODES];

struct image {
    uint8_t bytes[IMAGE_SIZE];
    int size;
    int origin; /* address of the first byte */
};

struct decoded {
    int at;
    int size;
    int operand;
    const struct instruction *instruction; /* null: no such opcode */
};

struct block {
    int at, size;
    int count;  /* of instructions */
    int cycles;
    int calls;
};

/* Reads hexadecimal digits; ';' begins a remark. Returns 0, or -1. */
int load_image(struct image *image, FILE *in);

void decode(const struct image *image, int at, struct decoded *decoded);
void print_decoded(const struct decoded *decoded, FILE *out);

/* Cuts a program into blocks. Returns how many there are. */
int find_blocks(const struct image *image, struct block *blocks);
void print_blocks(const struct block *blocks, int count, FILE *out);

#endif
