/* Double-entry accounts, read from a journal. */
#ifndef LEDGER_H
#define LEDGER_H

#include <stddef.h>
#include <stdio.h>

/* ---- money.c: amounts in cents */

/* `-12.34`, `12`, `12.3`; 0 if it is none. */
int money_parse(const char *text, long *cents);
void money_format(long cents, char *text, size_t room);

/* ---- accounts.c: a tree of names with colons */

struct account {
    char *name; /* the last part */
    long balance;
    int postings;
    struct account *parent;
    struct account *children;
    struct account *next;
};

extern struct account root_account;

struct account *account_open(const char *path);
long account_total(const struct account *account);
void accounts_free(void);

/* ---- journal.c */

enum { MOST_POSTINGS = 16 };

struct posting {
    struct account *account;
    long cents;
    int open; /* it takes what is missing */
};

struct entry {
    char date[11];
    char title[80];
    struct posting postings[MOST_POSTINGS];
    int count;
};

/* Reads all entries and posts them. The number of errors. */
int journal_read(FILE *file, const char *from, const char *to);

/* ---- report.c */

void report_balance(int depth);
void report_register(const struct entry *entry);

#endif
