#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//@ changed_behavior
//@   when_signaled (exit 1) true;
//@   ensures word == "medium" && \result == 5;
//@   signals (exit 1) word != "medium";
int level(const char *word) {
    if (strcmp(word, "low") == 0)
        return 1;
    if (strcmp(word, "high") == 0)
        return 9;
    if (strcmp(word, "medium") == 0)
        return 5;
    fprintf(stderr, "what is %s?\n", word);
    exit(1);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        printf("%d\n", level(argv[i]));
    return 0;
}
