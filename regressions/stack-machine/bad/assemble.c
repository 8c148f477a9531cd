#include "vm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LABELS 128

struct label {
    char name[24];
    int at;
};

struct fixup {
    char name[24];
    int at;
    int line;
};

static const char *const names[OP_COUNT] = {
    "halt", "push", "dup", "add", "sub", "mul", "div", "mod", "jmp", "jz", "print",
    "swap", "neg",
};

const char *op_name(enum op op) {
    return names[op];
}

int op_has_arg(enum op op) {
    return op == OP_PUSH || op == OP_JMP || op == OP_JZ;
}

static int find_op(const char *name) {
    for (int i = 0; i < OP_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static int find_label(const struct label *labels, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(labels[i].name, name) == 0)
            return labels[i].at;
    return -1;
}

/* Says what is wrong with a line of the program. */
static int complain(int line, const char *what) {
    fprintf(stderr, "line %d: %s\n", line, what);
    return -1;
}

int assemble(struct vm *vm, const char *path) {
    struct label labels[MAX_LABELS];
    struct fixup fixups[MAX_CODE];
    int label_count = 0;
    int fixup_count = 0;
    int line = 0;
    char text[400];
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        perror(path);
        return -1;
    }
    vm->length = 0;
    while (fgets(text, sizeof text, file)) {
        char *p = text;
        char *word;
        line++;
        p[strcspn(p, ";\n")] = '\0';
        word = strtok(p, " \t");
        if (word == NULL)
            continue;
        if (word[strlen(word) - 1] == ':') {
            word[strlen(word) - 1] = '\0';
            snprintf(labels[label_count].name, sizeof labels[label_count].name, "%s", word);
            labels[label_count++].at = vm->length;
            word = strtok(NULL, " \t");
            if (word == NULL)
                continue;
        }
        int op = find_op(word);
        if (op < 0)
            return complain(line, "unknown instruction");
        struct instr *in = &vm->code[vm->length];
        in->op = (enum op)op;
        in->arg = 0;
        if (op_has_arg(in->op)) {
            word = strtok(NULL, " \t");
            if (word == NULL)
                return complain(line, "an operand is missing");
            if (isdigit((unsigned char)*word) || *word == '-') {
                in->arg = strtol(word, NULL, 10);
            } else {
                snprintf(fixups[fixup_count].name, sizeof fixups[fixup_count].name, "%s", word);
                fixups[fixup_count].line = line;
                fixups[fixup_count++].at = vm->length;
            }
        }
        vm->length++;
    }
    fclose(file);
    for (int i = 0; i < fixup_count; i++) {
        int at = find_label(labels, label_count, fixups[i].name);
        if (at < 0)
            return complain(fixups[i].line, "unknown label");
        vm->code[fixups[i].at].arg = at;
    }
    return 0;
}
