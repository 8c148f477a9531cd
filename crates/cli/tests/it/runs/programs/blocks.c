// Blocks whose size is not an argument.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static char *formatted(const char *format, ...) {
    char *text = NULL;
    va_list list;
    va_start(list, format);
    int n = vasprintf(&text, format, list);
    va_end(list);
    return n < 0 ? NULL : text;
}

int main(void) {
    char *line = NULL, *field = NULL, *text = NULL;
    size_t room = 0, more = 0;
    void *aligned = NULL;
    long n = getline(&line, &room, stdin);
    long m = getdelim(&field, &more, ';', stdin);
    int a = asprintf(&text, "%ld and %ld", n, m);
    char *other = formatted("%d", a);
    if (posix_memalign(&aligned, 64, 200) == 0)
        memset(aligned, 1, 200);
    wchar_t *wide = wcsdup(L"wide");
    printf("%s%s %s %s %zu\n", line, field, text, other, wcslen(wide));
    free(line), free(field), free(text), free(other), free(aligned), free(wide);
    return 0;
}
