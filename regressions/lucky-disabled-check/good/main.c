#include <stdio.h>
#include <string.h>

#include "audit.h"
#include "ledger.h"
#include "report.h"

static struct ledger ledger;

int main(int argc, char **argv) {
    int options = 0;
    int i;
    const char *file = NULL;
    FILE *in = stdin;

    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-n") == 0)
            options |= REPORT_NAMES;
        else if (strcmp(argv[i], "-e") == 0)
            options |= REPORT_EMPTY;
        else
            file = argv[i];
    }
    if (file) {
        in = fopen(file, "r");
        if (!in) {
            perror(file);
            return 2;
        }
    }
    ledger_init(&ledger);
    ledger_read(&ledger, in);
    ledger_finish(&ledger);
    ledger.problems += audit_run(&ledger, stdout);
    report_balances(&ledger, options, stdout);
    if (in != stdin)
        fclose(in);
    return ledger.problems ? 1 : 0;
}
