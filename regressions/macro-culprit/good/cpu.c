#include "cpu.h"

#include <string.h>

const struct instruction instructions[OPCODES] = {
    [HLT] = { "hlt", NOTHING, 1 }, [LDI] = { "ldi", VALUE, 2 },   [LDA] = { "lda", INDEXED, 3 },
    [LDX] = { "ldx", VALUE, 2 },   [STA] = { "sta", INDEXED, 3 }, [ADD] = { "add", ADDRESS, 3 },
    [ADC] = { "adc", INDEXED, 4 }, [SUB] = { "sub", ADDRESS, 3 }, [CMP] = { "cmp", ADDRESS, 3 },
    [CPI] = { "cpi", VALUE, 2 },   [INC] = { "inc", NOTHING, 1 }, [DEC] = { "dec", NOTHING, 1 },
    [INX] = { "inx", NOTHING, 1 }, [JMP] = { "jmp", ADDRESS, 2 }, [JZ] = { "jz", ADDRESS, 2 },
    [JNZ] = { "jnz", ADDRESS, 2 }, [JC] = { "jc", ADDRESS, 2 },   [JN] = { "jn", ADDRESS, 2 },
    [OUT] = { "out", NOTHING, 4 }, [CLC] = { "clc", NOTHING, 1 },
};

/* Adds two bytes and a carry, sets the flags, and puts the sum into `to`. */
#define ARITHMETIC(cpu, to, left, right, carry)                                   \
    do {                                                                          \
        unsigned sum_ = (unsigned)(left) + (unsigned)(right) + (unsigned)(carry); \
        (cpu)->flags = 0;                                                         \
        if ((sum_ & 0xff) == 0)                                                   \
            (cpu)->flags |= ZERO;                                                 \
        if (sum_ > 0xff)                                                          \
            (cpu)->flags |= CARRY;                                                \
        if (sum_ & 0x80)                                                          \
            (cpu)->flags |= NEGATIVE;                                             \
        (to) = (uint8_t)sum_;                                                     \
    } while (0)

#define INVERTED(value) ((uint8_t)~(value))

void cpu_reset(struct cpu *cpu, FILE *out) {
    memset(cpu, 0, sizeof *cpu);
    cpu->out = out;
}

static uint8_t fetch(struct cpu *cpu) {
    return cpu->memory[cpu->pc++];
}

static void jump_if(struct cpu *cpu, int condition) {
    uint8_t to = fetch(cpu);
    if (condition)
        cpu->pc = to;
}

static void set_simple_flags(struct cpu *cpu, uint8_t value) {
    cpu->flags &= (uint8_t)~(ZERO | NEGATIVE);
    if (value == 0)
        cpu->flags |= ZERO;
    if (value & 0x80)
        cpu->flags |= NEGATIVE;
}

static void load(struct cpu *cpu, uint8_t value) {
    cpu->a = value;
    set_simple_flags(cpu, value);
}

static uint8_t *indexed(struct cpu *cpu) {
    return &cpu->memory[(uint8_t)(fetch(cpu) + cpu->x)];
}

void cpu_step(struct cpu *cpu) {
    uint8_t opcode = fetch(cpu), value, ignored;

    if (opcode >= OPCODES) {
        cpu->halted = 1;
        return;
    }
    cpu->cycles += instructions[opcode].cycles;
    switch ((enum opcode)opcode) {
    case HLT:
        cpu->halted = 1;
        break;
    case LDI:
        load(cpu, fetch(cpu));
        break;
    case LDA:
        load(cpu, *indexed(cpu));
        break;
    case LDX:
        cpu->x = fetch(cpu);
        set_simple_flags(cpu, cpu->x);
        break;
    case STA:
        *indexed(cpu) = cpu->a;
        break;
    case ADD:
        value = cpu->memory[fetch(cpu)];
        ARITHMETIC(cpu, cpu->a, cpu->a, value, 0);
        break;
    case ADC:
        value = *indexed(cpu);
        ARITHMETIC(cpu, cpu->a, cpu->a, value, cpu->flags & 1);
        break;
    case SUB:
        value = cpu->memory[fetch(cpu)];
        ARITHMETIC(cpu, cpu->a, cpu->a, INVERTED(value), 1);
        break;
    case CMP:
        value = cpu->memory[fetch(cpu)];
        ARITHMETIC(cpu, ignored, cpu->a, INVERTED(value), 1);
        (void)ignored;
        break;
    case CPI:
        value = fetch(cpu);
        ARITHMETIC(cpu, ignored, cpu->a, INVERTED(value), 1);
        (void)ignored;
        break;
    case INC:
        load(cpu, (uint8_t)(cpu->a + 1));
        break;
    case DEC:
        load(cpu, (uint8_t)(cpu->a - 1));
        break;
    case INX:
        cpu->x++;
        set_simple_flags(cpu, cpu->x);
        break;
    case JMP:
        jump_if(cpu, 1);
        break;
    case JZ:
        jump_if(cpu, cpu->flags & ZERO);
        break;
    case JNZ:
        jump_if(cpu, !(cpu->flags & ZERO));
        break;
    case JC:
        jump_if(cpu, cpu->flags & CARRY);
        break;
    case JN:
        jump_if(cpu, cpu->flags & NEGATIVE);
        break;
    case OUT:
        fprintf(cpu->out, "%u\n", cpu->a);
        break;
    case CLC:
        cpu->flags &= (uint8_t)~CARRY;
        break;
    default:
        cpu->halted = 1;
        break;
    }
}

int cpu_run(struct cpu *cpu, long cycles) {
    while (!cpu->halted && cpu->cycles < cycles)
        cpu_step(cpu);
    return cpu->halted ? 0 : -1;
}
