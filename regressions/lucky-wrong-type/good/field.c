#include "field.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *next_blank(char **line) {
    char *start = *line;
    char *end;
    while (isspace((unsigned char)*start))
        start++;
    if (*start == '\0')
        return NULL;
    for (end = start; *end && !isspace((unsigned char)*end); end++)
        ;
    *line = *end ? end + 1 : end;
    *end = '\0';
    return start;
}

char *field_next(char **line, int separator) {
    char *start = *line;
    char *end;
    if (separator == 0)
        return next_blank(line);
    if (start == NULL)
        return NULL;
    end = strchr(start, separator);
    if (end) {
        *end = '\0';
        *line = end + 1;
    } else {
        *line = NULL;
    }
    return start;
}

double field_number(const char *field, double otherwise) {
    char *end;
    double value = strtod(field, &end);
    return end == field ? otherwise : value;
}

char *field_copy(const char *field) {
    char *copy = malloc(strlen(field) + 1);
    if (!copy) {
        fprintf(stderr, "columns: out of memory\n");
        exit(3);
    }
    return strcpy(copy, field);
}
