#include "codec.h"

#include <string.h>

enum { NODES = SYMBOLS * 2 };

struct tree {
    unsigned long weight[NODES];
    int parent[NODES];
    int count;
};

/* The lightest node without a parent; the older one of two. */
static int lightest(const struct tree *tree, int but) {
    int best = -1;
    for (int i = 0; i < tree->count; i++) {
        if (i == but || tree->parent[i] >= 0 || tree->weight[i] == 0)
            continue;
        if (best < 0 || tree->weight[i] < tree->weight[best])
            best = i;
    }
    return best;
}

static int depth(const struct tree *tree, int node) {
    int result = 0;
    while (tree->parent[node] >= 0) {
        node = tree->parent[node];
        result++;
    }
    return result;
}

static int build(const unsigned long *weights, uint8_t *lengths) {
    static struct tree tree;
    int longest = 0;
    tree.count = SYMBOLS;
    for (int i = 0; i < SYMBOLS; i++) {
        tree.weight[i] = weights[i];
        tree.parent[i] = -1;
    }
    for (;;) {
        int first = lightest(&tree, -1);
        int second = lightest(&tree, first);
        if (second < 0)
            break;
        tree.weight[tree.count] = tree.weight[first] + tree.weight[second];
        tree.parent[tree.count] = -1;
        tree.parent[first] = tree.parent[second] = tree.count++;
    }
    for (int i = 0; i < SYMBOLS; i++) {
        int length = weights[i] ? depth(&tree, i) : 0;
        /* A symbol that is alone still needs a bit. */
        if (weights[i] && length == 0)
            length = 1;
        lengths[i] = (uint8_t)length;
        if (length > longest)
            longest = length;
    }
    return longest;
}

/* Weights are made more alike until no code is too long. */
void huffman_lengths(const unsigned long *counts, uint8_t *lengths) {
    unsigned long weights[SYMBOLS];
    memcpy(weights, counts, sizeof weights);
    while (build(weights, lengths) > LONGEST) {
        for (int i = 0; i < SYMBOLS; i++)
            if (weights[i])
                weights[i] = weights[i] / 2 + 1;
    }
}

void huffman_codes(const uint8_t *lengths, uint32_t *codes) {
    uint32_t code = 0;
    for (int length = 1; length <= LONGEST; length++) {
        for (int i = 0; i < SYMBOLS; i++)
            if (lengths[i] == length)
                codes[i] = code++;
        code <<= 1;
    }
}

static void write_lengths(const uint8_t *lengths, struct bit_writer *writer) {
    for (int i = 0; i < SYMBOLS; i++) {
        int run = 1;
        bits_write(writer, lengths[i], 4);
        if (lengths[i] != 0)
            continue;
        while (i + run < SYMBOLS && run < 64 && lengths[i + run] == 0)
            run++;
        bits_write(writer, (uint32_t)(run - 1), 6);
        i += run - 1;
    }
}

static void read_lengths(uint8_t *lengths, struct bit_reader *reader) {
    memset(lengths, 0, SYMBOLS);
    for (int i = 0; i < SYMBOLS; i++) {
        lengths[i] = (uint8_t)bits_read(reader, 4);
        if (lengths[i] == 0)
            i += (int)bits_read(reader, 6);
    }
}

void huffman_encode(const uint8_t *bytes, size_t length, struct bit_writer *writer) {
    unsigned long counts[SYMBOLS] = {0};
    uint8_t lengths[SYMBOLS];
    uint32_t codes[SYMBOLS] = {0};
    for (size_t i = 0; i < length; i++)
        counts[bytes[i]]++;
    huffman_lengths(counts, lengths);
    huffman_codes(lengths, codes);
    write_lengths(lengths, writer);
    for (size_t i = 0; i < length; i++)
        bits_write(writer, codes[bytes[i]], lengths[bytes[i]]);
}

int huffman_decode(struct bit_reader *reader, size_t length, struct buffer *out) {
    uint8_t lengths[SYMBOLS];
    uint32_t codes[SYMBOLS] = {0};
    read_lengths(lengths, reader);
    huffman_codes(lengths, codes);
    while (length-- > 0) {
        uint32_t code = 0;
        int found = -1;
        for (int bits = 1; bits <= LONGEST && found < 0; bits++) {
            code = code << 1 | bits_read(reader, 1);
            for (int i = 0; i < SYMBOLS && found < 0; i++)
                if (lengths[i] == bits && codes[i] == code)
                    found = i;
        }
        if (found < 0 || reader->past_end)
            return 0;
        buffer_add(out, (uint8_t)found);
    }
    return 1;
}
