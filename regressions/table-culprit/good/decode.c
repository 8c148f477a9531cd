#include "timing.h"

static int operand_size(enum mode mode) {
    switch (mode) {
    case IMMEDIATE:
    case DIRECT:
    case POINTER:
    case RELATIVE:
        return 1;
    case ABSOLUTE:
    case INDEXED:
        return 2;
    default:
        return 0;
    }
}

static int byte_at(const struct image *image, int at) {
    int index = at - image->origin;
    return index >= 0 && index < image->size ? image->bytes[index] : 0;
}

void decode(const struct image *image, int at, struct decoded *decoded) {
    int opcode = byte_at(image, at);
    int left = image->origin + image->size - at;

    decoded->at = at;
    decoded->size = 1;
    decoded->operand = 0;
    decoded->instruction = NULL;
    if (opcode >= OPCODES || instructions[opcode].mode == ILLEGAL)
        return;
    if (1 + operand_size(instructions[opcode].mode) > left)
        return;
    decoded->instruction = &instructions[opcode];
    decoded->size += operand_size(decoded->instruction->mode);
    if (decoded->size > 1)
        decoded->operand = byte_at(image, at + 1);
    if (decoded->size > 2)
        decoded->operand |= byte_at(image, at + 2) << 8;
}

void print_decoded(const struct decoded *decoded, FILE *out) {
    fprintf(out, "%04x  ", decoded->at);
    if (decoded->instruction == NULL) {
        fprintf(out, "?\n");
        return;
    }
    fprintf(out, "%s", decoded->instruction->name);
    switch (decoded->instruction->mode) {
    case IMMEDIATE:
        fprintf(out, " #%d", decoded->operand);
        break;
    case DIRECT:
        fprintf(out, " $%02x", decoded->operand);
        break;
    case ABSOLUTE:
        fprintf(out, " $%04x", decoded->operand);
        break;
    case INDEXED:
        fprintf(out, " $%04x,x", decoded->operand);
        break;
    case POINTER:
        fprintf(out, " ($%02x)", decoded->operand);
        break;
    case RELATIVE:
        fprintf(out, " $%04x", decoded->at + 2 + (int8_t)decoded->operand);
        break;
    default:
        break;
    }
    fputc('\n', out);
}
