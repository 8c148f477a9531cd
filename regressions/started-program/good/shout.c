/* Prints texts in capital letters; `tr` does the work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct style {
    const char *name;
    char from, to;
};

static const struct style styles[] = {
    {"whisper", 'A', 'z'},
    {"shout", 'a', 'Z'},
};

static const struct style *find(const char *name) {
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++)
        if (strcmp(styles[i].name, name) == 0)
            return &styles[i];
    return NULL;
}

/* Words that are counted, so that there is something beside. */
static int words(const char *text) {
    int count = 0, inside = 0;
    for (; *text; text++) {
        int blank = *text == ' ';
        count += !blank && !inside;
        inside = !blank;
    }
    return count;
}

static int say(const struct style *style, const char *text) {
    char command[200];
    snprintf(command, sizeof command, "echo '%s' | tr '%c-%c' 'A-%c'", text, style->from,
             style->from + 25, style->to);
    return system(command);
}

int main(int argc, char **argv) {
    const struct style *style = find(argc > 1 ? argv[1] : "shout");
    const char *text = argc > 2 ? argv[2] : "lazy fox jumps";
    if (style == NULL || strchr(text, '\'') != NULL) {
        fprintf(stderr, "usage: shout STYLE TEXT\n");
        return 2;
    }
    if (words(text) == 0)
        return 1;
    return say(style, text) == 0 ? 0 : 1;
}
