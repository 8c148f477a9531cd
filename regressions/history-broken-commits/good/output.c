#include "as8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY = 65536, LISTED = 64 };

static unsigned char *memory;
static int lowest, highest;
static unsigned char line_bytes[LISTED];
static int line_length;
static int errors;
static int current_pass, listing;

void output_start(int pass, int list) {
    if (memory == NULL)
        memory = calloc(MEMORY, 1);
    memset(memory, 0, MEMORY);
    lowest = MEMORY;
    highest = -1;
    line_length = 0;
    current_pass = pass;
    listing = list;
}

void output_byte(int address, int byte) {
    if (address < 0 || address >= MEMORY) {
        errors++;
        return;
    }
    memory[address] = (unsigned char)byte;
    if (address < lowest)
        lowest = address;
    if (address > highest)
        highest = address;
    if (line_length < LISTED)
        line_bytes[line_length++] = (unsigned char)byte;
}

void output_line(int address, const char *source) {
    if (current_pass == 2 && listing) {
        printf("%04x ", address);
        for (int i = 0; i < 4; i++) {
            if (i < line_length)
                printf(" %02x", line_bytes[i]);
            else
                printf("   ");
        }
        printf("%c %s\n", line_length > 4 ? '+' : ' ', source);
    }
    line_length = 0;
}

void output_dump(void) {
    for (int start = lowest & ~15; start <= highest; start += 16) {
        printf("%04x:", start);
        for (int i = start; i < start + 16 && i <= highest; i++)
            printf(" %02x", memory[i]);
        printf("\n");
    }
}

void output_free(void) {
    free(memory);
    memory = NULL;
}

void error_at(int line, const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "line %d: ", line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    errors++;
}

int error_count(void) {
    return errors;
}
