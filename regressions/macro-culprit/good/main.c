#include "cpu.h"

#include <stdlib.h>

int main(int argc, char **argv) {
    struct cpu cpu;
    FILE *in;
    int wrong;

    if (argc < 2) {
        fprintf(stderr, "usage: mini PROGRAM [CYCLES]\n");
        return 2;
    }
    in = fopen(argv[1], "r");
    if (in == NULL) {
        perror(argv[1]);
        return 2;
    }
    cpu_reset(&cpu, stdout);
    wrong = assemble(in, cpu.memory);
    fclose(in);
    if (wrong != 0) {
        fprintf(stderr, "%s:%d: cannot be translated\n", argv[1], wrong);
        return 2;
    }
    if (cpu_run(&cpu, argc > 2 ? atol(argv[2]) : 10000) != 0)
        printf("it does not halt\n");
    dump_registers(&cpu);
    dump_memory(&cpu, 0xf0, 16);
    return 0;
}
