#include "ledger.h"

static void print_account(const struct account *account, int level, int depth) {
    char amount[32];
    if (depth > 0 && level >= depth)
        return;
    money_format(account_total(account), amount, sizeof amount);
    printf("%12s  %*s%s\n", amount, level * 2, "", account->name);
    for (const struct account *one = account->children; one; one = one->next)
        print_account(one, level + 1, depth);
}

void report_balance(int depth) {
    char amount[32];
    for (const struct account *one = root_account.children; one; one = one->next)
        print_account(one, 0, depth);
    money_format(account_total(&root_account), amount, sizeof amount);
    printf("%12s\n", amount);
}

void report_register(const struct entry *entry) {
    char amount[32];
    printf("%s %s\n", entry->date, entry->title);
    for (int i = 0; i < entry->count; i++) {
        money_format(entry->postings[i].cents, amount, sizeof amount);
        printf("%12s  %s\n", amount, entry->postings[i].account->name);
    }
}
