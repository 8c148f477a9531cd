#include "cpu.h"

void dump_registers(const struct cpu *cpu) {
    fprintf(cpu->out, "a=%02x x=%02x pc=%02x cycles=%ld\n", cpu->a, cpu->x, cpu->pc, cpu->cycles);
}

void dump_memory(const struct cpu *cpu, int from, int count) {
    for (int i = 0; i < count; i++)
        fprintf(cpu->out, "%s%02x", i % 16 ? " " : i ? "\n" : "", cpu->memory[(from + i) % MEMORY_SIZE]);
    fputc('\n', cpu->out);
}
