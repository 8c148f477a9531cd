/* Runs a query in an empty database and prints the rows. */
#include <stdio.h>

#include "sqlite3.h"

static int print_row(void *unused, int columns, char **values, char **names) {
    (void)unused;
    (void)names;
    for (int i = 0; i < columns; i++)
        printf("%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
    putchar('\n');
    return 0;
}

int main(int argc, char **argv) {
    sqlite3 *database;
    char *error = NULL;
    int status = 0;
    if (argc != 2 || sqlite3_open(":memory:", &database) != SQLITE_OK) {
        fprintf(stderr, "usage: sql QUERY\n");
        return 2;
    }
    if (sqlite3_exec(database, argv[1], print_row, NULL, &error) != SQLITE_OK) {
        fprintf(stderr, "%s\n", error);
        sqlite3_free(error);
        status = 1;
    }
    sqlite3_close(database);
    return status;
}
