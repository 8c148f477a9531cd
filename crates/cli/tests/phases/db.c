#include <stdio.h>
static const char *entries[16];
static int size, current;
static void read_db(const char **lines, int n) {
    for (int i = 0; i < n; i++) {
        entries[size] = lines[i]; /* append */
        size = size + 1;
    }
    current = size - 1; /* bug */
}
static void insert(const char *rec) {
    for (int i = size; i > current; i--)
        entries[i] = entries[i - 1];
    entries[current] = rec; /* put */
    size++;
    current++;
}
int main(void) {
    const char *first[] = { "Africa" }, *second[] = { "America", "Antarctica" };
    const char *commands = "rie";
    int done = 0, at = 0;
    read_db(first, 1); /* before */
    while (!done) { /* loop */
        switch (commands[at++]) {
        case 'r':
            read_db(second, 2);
            break;
        case 'i':
            insert("Asia");
            break;
        default:
            done = 1;
        }
    }
    const char *third = entries[2];
    printf("%s\n", third); /* ask */
    return 0;
}
