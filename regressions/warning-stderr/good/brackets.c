/* Looks for brackets that do not fit together. */
#include <stdio.h>
#include <string.h>

#define MAX_DEPTH 100

struct open {
    int bracket;
    int line;
};

static struct open stack[MAX_DEPTH];
static int depth;

static int partner(int bracket) {
    static const char pairs[] = "()[]{}";
    const char *at = strchr(pairs, bracket);
    if (at == NULL)
        return 0;
    return (at - pairs) % 2 == 0 ? at[1] : at[-1];
}

static void open_bracket(int bracket, int line) {
    if (depth == MAX_DEPTH)
        return;
    stack[depth].bracket = bracket;
    stack[depth].line = line;
    depth++;
}

static int close_bracket(int bracket, int line) {
    int problems = 0;
    while (depth > 0 && stack[depth - 1].bracket != partner(bracket)) {
        depth--;
        fprintf(stderr, "line %d: %c is never closed\n", stack[depth].line, stack[depth].bracket);
        problems++;
    }
    if (depth == 0) {
        fprintf(stderr, "line %d: %c closes nothing\n", line, bracket);
        return problems + 1;
    }
    depth--;
    return problems;
}

int main(void) {
    int c;
    int line = 1;
    int problems = 0;
    int deepest = 0;
    while ((c = getchar()) != EOF) {
        switch (c) {
        case '\n':
            line++;
            break;
        case '(':
        case '[':
        case '{':
            open_bracket(c, line);
            if (depth > deepest)
                deepest = depth;
            break;
        case ')':
        case ']':
        case '}':
            problems += close_bracket(c, line);
            break;
        }
    }
    printf("%d problems, %d levels\n", problems, deepest);
    return 0;
}
