#include "concord.h"

#include <stdlib.h>
#include <string.h>

static void add_form(struct entry *entry, const char *word) {
    struct form **link = &entry->forms;
    while (*link && strcmp((*link)->text, word) != 0)
        link = &(*link)->next;
    if (*link == NULL) {
        *link = calloc(1, sizeof **link);
        strcpy((*link)->text, word);
    }
    (*link)->count++;
}

void concordance_add(struct entry **root, const char *stem, const char *word, int line) {
    while (*root) {
        int order = strcmp(stem, (*root)->stem);
        if (order == 0)
            break;
        root = order < 0 ? &(*root)->left : &(*root)->right;
    }
    if (*root == NULL) {
        *root = calloc(1, sizeof **root);
        strcpy((*root)->stem, stem);
        (*root)->first_line = line;
    }
    (*root)->count++;
    add_form(*root, word);
}

void concordance_print(const struct entry *entry, int least) {
    if (entry == NULL)
        return;
    concordance_print(entry->left, least);
    if (entry->count >= least) {
        printf("%-12s %3d  from line %d:", entry->stem, entry->count, entry->first_line);
        for (const struct form *form = entry->forms; form; form = form->next)
            printf(" %s", form->text);
        printf("\n");
    }
    concordance_print(entry->right, least);
}

void concordance_free(struct entry *entry) {
    if (entry == NULL)
        return;
    concordance_free(entry->left);
    concordance_free(entry->right);
    while (entry->forms) {
        struct form *next = entry->forms->next;
        free(entry->forms);
        entry->forms = next;
    }
    free(entry);
}
