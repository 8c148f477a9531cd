#include "as8.h"

#include <strings.h>

/*                                none   imm    narrow wide   branch */
static const struct instruction table[] = {
    {"add", {-1, 0x69, 0x65, 0x6d, -1}},
    {"and", {-1, 0x29, 0x25, 0x2d, -1}},
    {"beq", {-1, -1, -1, -1, 0xf0}},
    {"bne", {-1, -1, -1, -1, 0xd0}},
    {"bra", {-1, -1, -1, -1, 0x80}},
    {"call", {-1, -1, -1, 0x20, -1}},
    {"cmp", {-1, 0xc9, 0xc5, 0xcd, -1}},
    {"dec", {0x3a, -1, 0xc6, 0xce, -1}},
    {"halt", {0x00, -1, -1, -1, -1}},
    {"inc", {0x1a, -1, 0xe6, 0xee, -1}},
    {"jmp", {-1, -1, -1, 0x4c, -1}},
    {"lda", {-1, 0xa9, 0xa5, 0xad, -1}},
    {"nop", {0xea, -1, -1, -1, -1}},
    {"or", {-1, 0x09, 0x05, 0x0d, -1}},
    {"out", {0x42, -1, -1, -1, -1}},
    {"pop", {0x68, -1, -1, -1, -1}},
    {"push", {0x48, -1, -1, -1, -1}},
    {"ret", {0x60, -1, -1, -1, -1}},
    {"sta", {-1, -1, 0x85, 0x8d, -1}},
    {"sub", {-1, 0xe9, 0xe5, 0xed, -1}},
    {"xor", {-1, 0x49, 0x45, 0x4d, -1}},
};

const struct instruction *instruction_find(const char *name) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcasecmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

int mode_size(enum mode mode) {
    switch (mode) {
    case MODE_NONE:
        return 1;
    case MODE_WIDE:
        return 3;
    default:
        return 2;
    }
}
