#ifndef INI_TEXT_H
#define INI_TEXT_H

/* Takes spaces away from both ends, in place. */
char *str_trim(char *text);
/* A copy, or NULL. */
char *str_copy(const char *text);
/* Whether two texts are the same but for case. */
int str_same(const char *a, const char *b);

#endif
