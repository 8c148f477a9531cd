/* One group of checks for each argument. */
#include "codec.h"

#include <stdio.h>
#include <string.h>

static int failures;

static void check(int holds, const char *what) {
    if (!holds) {
        printf("failed: %s\n", what);
        failures++;
    }
}

static void check_bits(void) {
    struct buffer out = {0};
    struct bit_writer writer = {&out, 0, 0};
    bits_write(&writer, 5, 3);
    bits_write(&writer, 0x123, 12);
    bits_write(&writer, 1, 2);
    bits_flush(&writer);
    struct bit_reader reader = {out.bytes, out.length, 0, 0};
    check(out.length == 3, "seventeen bits are three bytes");
    check(bits_read(&reader, 3) == 5, "three bits");
    check(bits_read(&reader, 12) == 0x123, "twelve bits");
    check(bits_read(&reader, 2) == 1, "two bits");
    buffer_free(&out);
}

static void check_runs(void) {
    static const size_t sizes[] = {1, 2, 3, 256, 257, 258, 600};
    uint8_t bytes[600];
    memset(bytes, 'x', sizeof bytes);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct buffer packed = {0}, back = {0};
        runs_pack(bytes, sizes[i], &packed);
        check(runs_unpack(packed.bytes, packed.length, &back), "runs can be unpacked");
        check(back.length == sizes[i], "runs have their length again");
        buffer_free(&packed);
        buffer_free(&back);
    }
}

static void check_huffman(void) {
    unsigned long counts[SYMBOLS] = {0};
    uint8_t lengths[SYMBOLS];
    unsigned long a = 1, b = 1, kraft = 0;
    counts['a'] = 40, counts['b'] = 30, counts['c'] = 20, counts['d'] = 10;
    huffman_lengths(counts, lengths);
    check(lengths['a'] == 1 && lengths['b'] == 2 && lengths['d'] == 3, "rare symbols have long codes");
    /* Fibonacci's numbers give the deepest tree. */
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < 24; i++) {
        unsigned long sum = a + b;
        counts['e' + i] = a;
        a = b;
        b = sum;
    }
    huffman_lengths(counts, lengths);
    for (int i = 0; i < SYMBOLS; i++) {
        check(lengths[i] <= LONGEST, "no code is too long");
        if (lengths[i])
            kraft += 1ul << (LONGEST - lengths[i]);
    }
    check(kraft <= 1ul << LONGEST, "codes can be told apart");
}

static void check_container(void) {
    static const char *const texts[] = {"", "a", "aaaaaaaaaaaaaaaaaaaaaaaa", "a text with nothing special in it"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct buffer packed = {0}, back = {0};
        squeeze((const uint8_t *)texts[i], strlen(texts[i]), &packed);
        check(expand(packed.bytes, packed.length, &back) == NULL, "what was squeezed can be expanded");
        check(back.length == strlen(texts[i]), "with the same length");
        if (packed.length > 12) {
            struct buffer other = {0};
            packed.bytes[8] ^= 1;
            check(expand(packed.bytes, packed.length, &other) != NULL, "damage is found");
            buffer_free(&other);
        }
        buffer_free(&packed);
        buffer_free(&back);
    }
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "bits") == 0)
            check_bits();
        else if (strcmp(argv[i], "runs") == 0)
            check_runs();
        else if (strcmp(argv[i], "huffman") == 0)
            check_huffman();
        else if (strcmp(argv[i], "container") == 0)
            check_container();
    }
    return failures != 0;
}
