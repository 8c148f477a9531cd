/* Matches a set of patterns against a file, in several ways: main FILE */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include "pcre2.h"

static const char *const patterns[] = {
    "\\b(\\w+)\\s+\\1\\b",
    "(?i)the\\s+(?<word>[a-z]{4,})",
    "[0-9]+(?:\\.[0-9]+)?",
    "(?m)^(\\w+).*?(\\w+)$",
    "([aeiou])[^aeiou\\s]+(?=[aeiou])",
    "(?<!\\w)(?:a|an|the)(?!\\w)",
    "(\\((?:[^()]++|(?1))*\\))",
    "\\p{Lu}\\p{Ll}+",
    "(?:x+x+)+y",
};

int main(int argc, char **argv) {
    FILE *file = fopen(argc > 1 ? argv[1] : "input.txt", "rb");
    char *text;
    long size;
    size_t i;
    if (file == NULL) {
        return 1;
    }
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    text = malloc((size_t)size + 1);
    if (text == NULL || fread(text, 1, (size_t)size, file) != (size_t)size) {
        return 1;
    }
    fclose(file);
    for (i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        int error, count = 0, dfa = 0, code;
        PCRE2_SIZE where, at = 0, room;
        unsigned long total = 0;
        PCRE2_UCHAR message[128], *result;
        int workspace[200];
        pcre2_match_data *data;
        pcre2_code *pattern = pcre2_compile((PCRE2_SPTR)patterns[i], PCRE2_ZERO_TERMINATED, PCRE2_UTF, &error, &where, NULL);
        if (pattern == NULL) {
            pcre2_get_error_message(error, message, sizeof message);
            printf("%s: %s\n", patterns[i], (char *)message);
            continue;
        }
        data = pcre2_match_data_create_from_pattern(pattern, NULL);
        while (at <= (PCRE2_SIZE)size
               && (code = pcre2_match(pattern, (PCRE2_SPTR)text, (PCRE2_SIZE)size, at, 0, data, NULL)) > 0) {
            PCRE2_SIZE *ends = pcre2_get_ovector_pointer(data);
            total += (unsigned long)(ends[1] - ends[0]);
            count++;
            at = ends[1] > ends[0] ? ends[1] : ends[1] + 1;
        }
        printf("%s: %d matches, %lu characters\n", patterns[i], count, total);
        at = 0;
        while (at < (PCRE2_SIZE)size && dfa < 200
               && (code = pcre2_dfa_match(pattern, (PCRE2_SPTR)text, (PCRE2_SIZE)size, at, 0, data, NULL, workspace, 200)) >= 0) {
            PCRE2_SIZE *ends = pcre2_get_ovector_pointer(data);
            at = ends[1] > ends[0] ? ends[1] : ends[1] + 1;
            dfa++;
        }
        room = (PCRE2_SIZE)size * 3 + 100;
        result = malloc(room);
        code = pcre2_substitute(pattern, (PCRE2_SPTR)text, (PCRE2_SIZE)size, 0, PCRE2_SUBSTITUTE_GLOBAL, data, NULL,
                                (PCRE2_SPTR) "<$0>", PCRE2_ZERO_TERMINATED, result, &room);
        printf("dfa %d, substituted %d, %lu\n", dfa, code, code < 0 ? 0ul : (unsigned long)room);
        free(result);
        pcre2_match_data_free(data);
        pcre2_code_free(pattern);
    }
    free(text);
    return 0;
}
