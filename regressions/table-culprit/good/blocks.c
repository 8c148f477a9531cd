#include "timing.h"

/* Cycles until the first instruction of a block comes through. */
enum { FILL = 2 };

static void start(struct block *block, int at) {
    block->at = at;
    block->size = 0;
    block->count = 0;
    block->cycles = FILL;
    block->calls = 0;
}

static void add(struct block *block, const struct decoded *decoded) {
    block->size += decoded->size;
    if (decoded->instruction == NULL)
        return;
    block->count++;
    block->cycles += decoded->instruction->cycles;
    if (decoded->instruction->flow == BRANCHES && decoded->instruction->mode != RELATIVE)
        block->calls++;
}

static int ends_block(const struct decoded *decoded) {
    return decoded->instruction == NULL || decoded->instruction->flow == LEAVES;
}

int find_blocks(const struct image *image, struct block *blocks) {
    int at = image->origin, end = image->origin + image->size, count = 0;

    while (at < end && count < MOST_BLOCKS) {
        struct block *block = &blocks[count];
        struct decoded decoded;
        start(block, at);
        do {
            decode(image, at, &decoded);
            add(block, &decoded);
            at += decoded.size;
        } while (at < end && !ends_block(&decoded));
        if (block->count > 0)
            count++;
    }
    return count;
}

void print_blocks(const struct block *blocks, int count, FILE *out) {
    long total = 0;
    for (int i = 0; i < count; i++) {
        const struct block *block = &blocks[i];
        fprintf(out, "block %04x: %d bytes, %d instructions, %d cycles", block->at, block->size, block->count,
                block->cycles);
        if (block->calls > 0)
            fprintf(out, " and %d calls", block->calls);
        fputc('\n', out);
        total += block->cycles;
    }
    fprintf(out, "%d blocks, %ld cycles\n", count, total);
}
