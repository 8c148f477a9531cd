/* Translates programs: a line has a label with a colon, an instruction, or both.
 * `.byte N N ...` puts bytes, and `;` begins a remark. */
#include "cpu.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct label {
    char name[16];
    int at;        /* -1: it is not defined yet */
    int line;      /* where it was used first */
};

struct assembler {
    uint8_t *memory;
    int at, line;
    struct label labels[MOST_LABELS];
    int count;
    /* Bytes that are to be filled in with the address of a label. */
    struct {
        int at, label;
    } uses[MEMORY_SIZE];
    int used;
};

static int label_index(struct assembler *assembler, const char *name) {
    int i;
    for (i = 0; i < assembler->count; i++)
        if (strcmp(assembler->labels[i].name, name) == 0)
            return i;
    if (i == MOST_LABELS || strlen(name) >= sizeof assembler->labels[i].name)
        return -1;
    strcpy(assembler->labels[i].name, name);
    assembler->labels[i].at = -1;
    assembler->labels[i].line = assembler->line;
    assembler->count++;
    return i;
}

static int emit(struct assembler *assembler, int value) {
    if (assembler->at == MEMORY_SIZE)
        return -1;
    assembler->memory[assembler->at++] = (uint8_t)value;
    return 0;
}

static int emit_operand(struct assembler *assembler, const char *text) {
    int label;
    if (isdigit((unsigned char)*text))
        return emit(assembler, (int)strtol(text, NULL, 0));
    label = label_index(assembler, text);
    if (label < 0 || assembler->used == MEMORY_SIZE)
        return -1;
    assembler->uses[assembler->used].at = assembler->at;
    assembler->uses[assembler->used].label = label;
    assembler->used++;
    return emit(assembler, 0);
}

static int find_opcode(const char *name) {
    for (int i = 0; i < OPCODES; i++)
        if (strcmp(instructions[i].name, name) == 0)
            return i;
    return -1;
}

static int assemble_line(struct assembler *assembler, char *line) {
    char *word, *colon;
    int opcode;

    line[strcspn(line, ";\n")] = '\0';
    colon = strchr(line, ':');
    if (colon) {
        int label;
        *colon = '\0';
        line += strspn(line, " \t");
        label = label_index(assembler, line);
        if (label < 0 || assembler->labels[label].at >= 0)
            return -1;
        assembler->labels[label].at = assembler->at;
        line = colon + 1;
    }
    word = strtok(line, " \t");
    if (word == NULL)
        return 0;
    if (strcmp(word, ".byte") == 0) {
        while ((word = strtok(NULL, " \t")) != NULL)
            if (emit_operand(assembler, word) != 0)
                return -1;
        return 0;
    }
    opcode = find_opcode(word);
    if (opcode < 0 || emit(assembler, opcode) != 0)
        return -1;
    word = strtok(NULL, " \t");
    if (instructions[opcode].operand == NOTHING)
        return word == NULL ? 0 : -1;
    return word == NULL ? -1 : emit_operand(assembler, word);
}

static int resolve(struct assembler *assembler) {
    for (int i = 0; i < assembler->used; i++) {
        const struct label *label = &assembler->labels[assembler->uses[i].label];
        if (label->at < 0)
            return label->line;
        assembler->memory[assembler->uses[i].at] = (uint8_t)label->at;
    }
    return 0;
}

int assemble(FILE *in, uint8_t *memory) {
    static struct assembler assembler;
    char line[128];

    memset(&assembler, 0, sizeof assembler);
    assembler.memory = memory;
    while (fgets(line, sizeof line, in)) {
        assembler.line++;
        if (assemble_line(&assembler, line) != 0)
            return assembler.line;
    }
    return resolve(&assembler);
}
