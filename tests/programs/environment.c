// env: RELAPSE_TEST_COLOUR=blue
// env: RELAPSE_TEST_EMPTY=
// expect: blue <> 1
// expect: 2
// expect: red
// expect: 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

int main(void) {
    printf("%s <%s> %d\n", getenv("RELAPSE_TEST_COLOUR"), getenv("RELAPSE_TEST_EMPTY"), getenv("RELAPSE_TEST_NONE") == NULL);
    int found = 0;
    for (char **e = environ; *e; e++) found += strncmp(*e, "RELAPSE_TEST_", 13) == 0;
    printf("%d\n", found);
    setenv("RELAPSE_TEST_COLOUR", "red", 1);
    printf("%s\n", getenv("RELAPSE_TEST_COLOUR"));
    unsetenv("RELAPSE_TEST_COLOUR");
    printf("%d\n", getenv("RELAPSE_TEST_COLOUR") == NULL);
    return 0;
}
