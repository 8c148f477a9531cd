#include "as8.h"

#include <stdlib.h>
#include <string.h>

static struct symbol *symbols;

struct symbol *symbol_lookup(const char *name) {
    struct symbol **link = &symbols;
    while (*link && strcmp((*link)->name, name) < 0)
        link = &(*link)->next;
    if (*link == NULL || strcmp((*link)->name, name) != 0) {
        struct symbol *symbol = calloc(1, sizeof *symbol);
        strncpy(symbol->name, name, sizeof symbol->name - 1);
        symbol->next = *link;
        *link = symbol;
    }
    return *link;
}

void symbol_define(const char *name, int value, int pass, int line) {
    struct symbol *symbol = symbol_lookup(name);
    if (pass == 1 && symbol->defined)
        error_at(line, "%s is defined twice", name);
    symbol->value = value;
    symbol->defined = pass;
}

void symbols_each(void (*visit)(const struct symbol *symbol)) {
    for (struct symbol *symbol = symbols; symbol; symbol = symbol->next)
        visit(symbol);
}

void symbols_free(void) {
    while (symbols) {
        struct symbol *next = symbols->next;
        free(symbols);
        symbols = next;
    }
}
