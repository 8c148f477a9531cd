#include "message.h"

#include <stdarg.h>
#include <stdio.h>

int level = 1;
int warnings;

void warn(int line, const char *format, ...) {
    va_list arguments;

    warnings++;
    if (level < 1)
        return;
    fprintf(stderr, "line %d: warning: ", line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    putc('\n', stderr);
}

void note(const char *format, ...) {
    va_list arguments;

    if (level < 2)
        return;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    putc('\n', stderr);
}
