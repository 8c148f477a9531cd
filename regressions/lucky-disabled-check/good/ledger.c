#include "ledger.h"

#include <string.h>

#include "amount.h"
#include "audit.h"

void ledger_init(struct ledger *l) {
    memset(l, 0, sizeof *l);
}

static void complain(struct ledger *l, int line, const char *what) {
    fprintf(stderr, "line %d: %s\n", line, what);
    l->problems++;
}

static int find_account(struct ledger *l, const char *name) {
    int i;
    for (i = 0; i < l->account_count; i++)
        if (strcmp(l->accounts[i].name, name) == 0)
            return i;
    if (l->account_count == MAX_ACCOUNTS)
        return -1;
    snprintf(l->accounts[i].name, ACCOUNT_ROOM, "%s", name);
    return l->account_count++;
}

static int parse_date(const char *text, long *date) {
    int year, month, day;
    if (sscanf(text, "%d-%d-%d", &year, &month, &day) != 3)
        return 0;
    if (month < 1 || month > 12 || day < 1 || day > 31)
        return 0;
    *date = year * 10000L + month * 100 + day;
    return 1;
}

static void post(struct ledger *l, int account, long date, long amount) {
    struct posting *p = &l->postings[l->posting_count++];
    p->account = account;
    p->date = date;
    p->amount = amount;
}

static void read_transfer(struct ledger *l, int line, const char *when, const char *text) {
    char from[ACCOUNT_ROOM], to[ACCOUNT_ROOM], sum[32];
    long date, amount;
    int source, target;
    if (!parse_date(when, &date) || sscanf(text, "%31s %31s %31s", from, to, sum) != 3 ||
        !amount_parse(sum, &amount)) {
        complain(l, line, "not a transfer");
        return;
    }
    source = find_account(l, from);
    target = find_account(l, to);
    if (source < 0 || target < 0 || l->posting_count + 2 > MAX_POSTINGS) {
        complain(l, line, "too much");
        return;
    }
    post(l, source, date, -amount);
    post(l, target, date, amount);
}

static void read_assertion(struct ledger *l, int line, const char *text) {
    char when[16], name[ACCOUNT_ROOM], sum[32];
    struct assertion *a = &l->assertions[l->assertion_count];
    if (l->assertion_count == MAX_ASSERTIONS) {
        complain(l, line, "too many assertions");
        return;
    }
    if (sscanf(text, "%15s %31s %31s", when, name, sum) != 3 || !parse_date(when, &a->date) ||
        !amount_parse(sum, &a->amount)) {
        complain(l, line, "not an assertion");
        return;
    }
    a->account = find_account(l, name);
    a->line = line;
    l->assertion_count++;
}

void ledger_read(struct ledger *l, FILE *in) {
    char text[256];
    int line = 0;
    while (fgets(text, sizeof text, in)) {
        char first[16];
        int used;
        line++;
        if (text[0] == '#' || sscanf(text, "%15s%n", first, &used) != 1)
            continue;
        if (strcmp(first, "assert") == 0)
            read_assertion(l, line, text + used);
        else
            read_transfer(l, line, first, text + used);
    }
}

void ledger_finish(struct ledger *l) {
    int i;
    for (i = 0; i < l->account_count; i++)
        l->accounts[i].balance = 0;
    for (i = 0; i < l->posting_count; i++)
        l->accounts[l->postings[i].account].balance += l->postings[i].amount;
}
