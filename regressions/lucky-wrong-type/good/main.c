#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "order.h"
#include "print.h"
#include "table.h"

static struct table table;

static void usage(void) {
    fprintf(stderr, "usage: columns [-w WIDTH] [-s CHARACTER] [-h ROWS] [-k COLUMN[n][r]] [-r CHARACTER] [-b TEXT]\n");
    exit(2);
}

int main(int argc, char **argv) {
    struct look look = {"  ", 0};
    struct order order = {0, 0, 0};
    int option, lost;

    table_init(&table);
    while ((option = getopt(argc, argv, "w:s:h:k:r:b:")) != -1) {
        switch (option) {
        case 'w':
            table_limit(&table, optarg);
            break;
        case 's':
            table_separator(&table, optarg);
            break;
        case 'h':
            table_heading(&table, optarg);
            break;
        case 'k':
            if (!order_parse(&order, optarg))
                usage();
            break;
        case 'r':
            look.rule = optarg[0];
            break;
        case 'b':
            look.between = optarg;
            break;
        default:
            usage();
        }
    }
    if (optind < argc)
        usage();
    lost = table_read(&table, stdin);
    order_rows(&table, &order);
    table_measure(&table);
    print_table(&table, &look, stdout);
    table_free(&table);
    if (lost)
        fprintf(stderr, "columns: %d rows did not fit\n", lost);
    return lost ? 1 : 0;
}
