#include "report.h"

#include <string.h>

#include "amount.h"

void report_balances(const struct ledger *l, int options, FILE *out) {
    int order[MAX_ACCOUNTS];
    int i, k;
    for (i = 0; i < l->account_count; i++) {
        for (k = i; k > 0 && (options & REPORT_NAMES) &&
                    strcmp(l->accounts[i].name, l->accounts[order[k - 1]].name) < 0;
             k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    for (i = 0; i < l->account_count; i++) {
        const struct account *a = &l->accounts[order[i]];
        char sum[32];
        if (a->balance == 0 && !(options & REPORT_EMPTY))
            continue;
        amount_write(a->balance, sum, (int)sizeof sum);
        fprintf(out, "%-16s %12s\n", a->name, sum);
    }
}
