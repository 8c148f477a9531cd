#ifndef LEDGER_H
#define LEDGER_H

#include <stdio.h>

#define MAX_ACCOUNTS 32
#define MAX_POSTINGS 256
#define MAX_ASSERTIONS 32
#define ACCOUNT_ROOM 32

struct account {
    char name[ACCOUNT_ROOM];
    long balance;
};

struct posting {
    int account;
    long date; /* 20250131 */
    long amount;
};

/* What an account should hold at the end of a day. */
struct assertion {
    int account;
    long date;
    long amount;
    int line;
};

struct ledger {
    struct account accounts[MAX_ACCOUNTS];
    int account_count;
    struct posting postings[MAX_POSTINGS];
    int posting_count;
    struct assertion assertions[MAX_ASSERTIONS];
    int assertion_count;
    int problems;
};

void ledger_init(struct ledger *l);

/* Reads lines `DATE FROM TO AMOUNT` and `assert DATE ACCOUNT AMOUNT`. */
void ledger_read(struct ledger *l, FILE *in);

/* Sums up when all has been read. */
void ledger_finish(struct ledger *l);

#endif
