#include "audit.h"

#include "amount.h"

/* What an account holds at the end of a day. */
static long balance_on(const struct ledger *l, int account, long date) {
    long sum = 0;
    int i;
    for (i = 0; i < l->posting_count; i++) {
        const struct posting *p = &l->postings[i];
        if (p->account != account)
            continue;
        if (p->date <= date)
            sum += p->amount;
    }
    return sum;
}

int audit_run(const struct ledger *l, FILE *out) {
    int i, failed = 0;
    for (i = 0; i < l->assertion_count; i++) {
        const struct assertion *a = &l->assertions[i];
        long balance = balance_on(l, a->account, a->date);
        char is[32], should[32];
        if (balance == a->amount)
            continue;
        amount_write(balance, is, (int)sizeof is);
        amount_write(a->amount, should, (int)sizeof should);
        fprintf(out, "line %d: %s holds %s, not %s\n", a->line, l->accounts[a->account].name, is, should);
        failed++;
    }
    return failed;
}
