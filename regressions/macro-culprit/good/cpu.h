/* A machine of 8 bits: an accumulator, an index, flags, and 256 bytes of memory. */
#ifndef CPU_H
#define CPU_H

#include <stdint.h>
#include <stdio.h>

enum { MEMORY_SIZE = 256, MOST_LABELS = 64 };

enum opcode {
    HLT, LDI, LDA, LDX, STA, ADD, ADC, SUB, CMP, CPI, INC, DEC, INX, JMP, JZ, JNZ, JC, JN, OUT, CLC,
    OPCODES
};

/* What stands behind a mnemonic. */
enum operand { NOTHING, VALUE, ADDRESS, INDEXED };

enum flag { CARRY = 0x01, ZERO = 0x02, NEGATIVE = 0x04 };

struct instruction {
    const char *name;
    enum operand operand;
    int cycles;
};

extern const struct instruction instructions[OPCODES];

struct cpu {
    uint8_t a, x, flags;
    uint8_t pc;
    uint8_t memory[MEMORY_SIZE];
    long cycles;
    int halted;
    FILE *out;
};

/* Translates a program into memory. Returns 0, or the number of the line that is wrong. */
int assemble(FILE *in, uint8_t *memory);

void cpu_reset(struct cpu *cpu, FILE *out);
void cpu_step(struct cpu *cpu);
/* Runs until the machine halts, or for so many cycles. Returns 0 if it halted. */
int cpu_run(struct cpu *cpu, long cycles);

void dump_registers(const struct cpu *cpu);
void dump_memory(const struct cpu *cpu, int from, int count);

#endif
