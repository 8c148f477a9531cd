/* An entry starts with a date and a title; its postings are indented. At most one of
   them is without an amount. */
#include "ledger.h"

#include <ctype.h>
#include <string.h>

static int errors;
static int number;

static void complain(const char *message) {
    fprintf(stderr, "line %d: %s\n", number, message);
    errors++;
}

static int is_date(const char *text) {
    for (int i = 0; i < 10; i++) {
        int dash = i == 4 || i == 7;
        if (dash ? text[i] != '-' : !isdigit((unsigned char)text[i]))
            return 0;
    }
    return 1;
}

static void start(struct entry *entry, char *line) {
    memset(entry, 0, sizeof *entry);
    if (!is_date(line)) {
        complain("a date is missing");
        return;
    }
    memcpy(entry->date, line, 10);
    snprintf(entry->title, sizeof entry->title, "%s", line + 10 + strspn(line + 10, " "));
}

static void add_posting(struct entry *entry, char *line) {
    struct posting *posting;
    char *amount;
    line += strspn(line, " \t");
    if (entry->count == MOST_POSTINGS) {
        complain("too many postings");
        return;
    }
    posting = &entry->postings[entry->count++];
    amount = strstr(line, "  ");
    if (amount) {
        *amount = '\0';
        amount += 2 + strspn(amount + 2, " \t");
    }
    posting->account = account_open(line);
    posting->open = amount == NULL || *amount == '\0';
    if (!posting->open && !money_parse(amount, &posting->cents))
        complain("not an amount");
}

static void finish(struct entry *entry, const char *from, const char *to) {
    struct posting *open = NULL;
    long sum = 0;
    if (entry->count == 0)
        return;
    for (int i = 0; i < entry->count; i++) {
        sum += entry->postings[i].cents;
        if (!entry->postings[i].open)
            continue;
        if (open)
            complain("two postings without an amount");
        open = &entry->postings[i];
    }
    if (open)
        open->cents = -sum;
    else if (sum != 0)
        complain("the entry is not balanced");
    if (strcmp(entry->date, from) >= 0 && strcmp(entry->date, to) < 0) {
        for (int i = 0; i < entry->count; i++) {
            entry->postings[i].account->balance += entry->postings[i].cents;
            entry->postings[i].account->postings++;
        }
        report_register(entry);
    }
    entry->count = 0;
}

int journal_read(FILE *file, const char *from, const char *to) {
    struct entry entry;
    char line[256];
    memset(&entry, 0, sizeof entry);
    while (fgets(line, sizeof line, file)) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0' || line[0] == ';')
            continue;
        if (line[0] == ' ' || line[0] == '\t') {
            add_posting(&entry, line);
        } else {
            finish(&entry, from, to);
            start(&entry, line);
        }
    }
    finish(&entry, from, to);
    return errors;
}
