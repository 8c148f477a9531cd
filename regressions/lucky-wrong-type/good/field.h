#ifndef FIELD_H
#define FIELD_H

/* Cuts the next field off a line; returns NULL at its end.
   Without a separator, fields are separated by blanks. */
char *field_next(char **line, int separator);

/* A number at the beginning of a field, or `otherwise`. */
double field_number(const char *field, double otherwise);

/* A copy that the caller frees. */
char *field_copy(const char *field);

#endif
