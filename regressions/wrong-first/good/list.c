/* Prints its arguments as one list. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum form { PLAIN, QUOTED };

static void element(const char *text, enum form form, bool first) {
  if (form != PLAIN && !first)
    fputs(", ", stdout);
  if (form == QUOTED)
    printf("'%s'", text);
  else
    printf("%s ", text);
}

int main(int argc, char **argv) {
  enum form form = argc > 2 ? QUOTED : PLAIN;
  for (int i = 1; i < argc; i++)
    element(argv[i], form, i == 1);
  putchar('\n');
  return 0;
}
