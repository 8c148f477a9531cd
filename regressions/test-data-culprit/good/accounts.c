#include "ledger.h"

#include <stdlib.h>
#include <string.h>

struct account root_account;

static struct account *child(struct account *parent, const char *name, size_t length) {
    struct account **link = &parent->children;
    struct account *account;
    while (*link) {
        int order = strncmp((*link)->name, name, length);
        if (order == 0 && strlen((*link)->name) == length)
            return *link;
        if (order > 0 || (order == 0 && strlen((*link)->name) > length))
            break;
        link = &(*link)->next;
    }
    account = calloc(1, sizeof *account);
    account->name = malloc(length + 1);
    memcpy(account->name, name, length);
    account->name[length] = '\0';
    account->parent = parent;
    account->next = *link;
    *link = account;
    return account;
}

struct account *account_open(const char *path) {
    struct account *account = &root_account;
    for (;;) {
        size_t length = strcspn(path, ":");
        account = child(account, path, length);
        path += length;
        if (*path == '\0')
            return account;
        path++;
    }
}

long account_total(const struct account *account) {
    long total = account->balance;
    for (const struct account *one = account->children; one; one = one->next)
        total += account_total(one);
    return total;
}

static void free_list(struct account *account) {
    while (account) {
        struct account *next = account->next;
        free_list(account->children);
        free(account->name);
        free(account);
        account = next;
    }
}

void accounts_free(void) {
    free_list(root_account.children);
    root_account.children = NULL;
}
