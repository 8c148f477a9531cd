#include "ledger.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    const char *from = "0000-00-00", *to = "9999-99-99";
    int depth = 0, errors, i = 1;
    FILE *file;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        if (strcmp(argv[i], "-f") == 0)
            from = argv[i + 1];
        else if (strcmp(argv[i], "-t") == 0)
            to = argv[i + 1];
        else if (strcmp(argv[i], "-d") == 0)
            depth = atoi(argv[i + 1]);
    }
    if (i + 1 != argc || (file = fopen(argv[i], "r")) == NULL) {
        fprintf(stderr, "usage: ledger [-f DATE] [-t DATE] [-d DEPTH] JOURNAL\n");
        return 2;
    }
    errors = journal_read(file, from, to);
    fclose(file);
    printf("\n");
    report_balance(depth);
    accounts_free();
    return errors != 0;
}
