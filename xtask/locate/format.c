/* Fills text into lines. Commands: .width N, .indent N, .center, .fill; an empty line ends a paragraph. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 200

static char out[LONGEST];
static int out_length = 0;
static int out_words = 0;
static int width = 40;
static int indent = 0;
static int centered = 0;
static int lines = 0;
static int words = 0;
static int widest = 0;
static int blanks = 0;
static int broken = 0;
static int histogram[10];

static void put_blanks(int count) {
    for (int i = 0; i < count; i++)
        putchar(' ');
}

static void note(int length) {
    lines++;
    if (length > widest)
        widest = length;
}

static void stretch(int extra) {
    int gaps = out_words - 1;
    int seen = 0;
    for (int i = 0; i < out_length; i++) {
        putchar(out[i]);
        if (out[i] == ' ') {
            int add = extra / gaps;
            if (seen < extra % gaps)
                add++;
            put_blanks(add);
            blanks += add;
            seen++;
        }
    }
    putchar('\n');
}

static void flush_line(int full) {
    if (out_words == 0)
        return;
    int room = width - indent;
    put_blanks(indent);
    if (centered) {
        int before = (room - out_length) / 2;
        if (before > 0)
            put_blanks(before);
        printf("%s\n", out);
        note(indent + out_length + (before > 0 ? before : 0));
    } else if (full && out_words > 1 && out_length < room) {
        stretch(room - out_length);
        note(width);
    } else {
        printf("%s\n", out);
        note(indent + out_length);
    }
    out_length = 0;
    out_words = 0;
    out[0] = '\0';
}

static void add_word(const char *word) {
    int length = (int)strlen(word);
    int room = width - indent;
    int needed = length;
    words++;
    if (length < 10)
        histogram[length]++;
    else
        histogram[0]++;
    if (out_words > 0)
        needed = needed + 1;
    if (out_length + needed > room)
        flush_line(1);
    while (length > room) {
        char part[LONGEST];
        int take = room - 1;
        if (take < 1)
            take = 1;
        memcpy(part, word, (size_t)take);
        part[take] = '\0';
        put_blanks(indent);
        printf("%s-\n", part);
        note(indent + take + 1);
        broken++;
        word = word + take;
        length = length - take;
    }
    if (out_words > 0) {
        out[out_length] = ' ';
        out_length++;
    }
    memcpy(out + out_length, word, (size_t)length);
    out_length = out_length + length;
    out[out_length] = '\0';
    out_words++;
}

static int argument(const char *line) {
    while (*line && !isspace((unsigned char)*line))
        line++;
    return atoi(line);
}

static void command(const char *line) {
    flush_line(0);
    if (strncmp(line, ".width", 6) == 0) {
        int value = argument(line);
        if (value >= 4 && value <= 100)
            width = value;
    } else if (strncmp(line, ".indent", 7) == 0) {
        int value = argument(line);
        if (value < 0)
            value = 0;
        if (value > width - 4)
            value = width - 4;
        indent = value;
    } else if (strcmp(line, ".center") == 0) {
        centered = 1;
    } else if (strcmp(line, ".fill") == 0) {
        centered = 0;
    } else {
        printf("? %s\n", line);
    }
}

static void text_line(char *line) {
    char word[LONGEST];
    int length = 0;
    for (int i = 0;; i++) {
        if (line[i] != '\0' && !isspace((unsigned char)line[i])) {
            word[length] = line[i];
            length++;
            continue;
        }
        if (length > 0) {
            word[length] = '\0';
            add_word(word);
            length = 0;
        }
        if (line[i] == '\0')
            break;
    }
    if (centered)
        flush_line(0);
}

static void summary(void) {
    int most = 1;
    for (int i = 2; i < 10; i++)
        if (histogram[i] > histogram[most])
            most = i;
    printf("-- %d lines, %d words, widest %d\n", lines, words, widest);
    printf("-- %d blanks added, %d broken, mostly of length %d\n", blanks, broken, most);
}

int main(void) {
    char line[LONGEST];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '.') {
            command(line);
        } else if (line[0] == '\0') {
            flush_line(0);
            putchar('\n');
            note(0);
        } else {
            text_line(line);
        }
    }
    flush_line(0);
    summary();
    return 0;
}
