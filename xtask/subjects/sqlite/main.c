/* A database in memory and a small one in a file: main ROWS FILE */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sqlite3.h"

static int show(void *count, int columns, char **values, char **names) {
    int i;
    (void)names;
    for (i = 0; i < columns; i++) {
        printf("%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
    }
    printf("\n");
    ++*(int *)count;
    return 0;
}

static void run(sqlite3 *db, const char *sql) {
    char *message = NULL;
    int count = 0;
    if (sqlite3_exec(db, sql, show, &count, &message) != SQLITE_OK) {
        printf("error: %s\n", message);
        sqlite3_free(message);
    }
    printf("-- %d rows of %.40s\n", count, sql);
}

static unsigned next(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void fill(sqlite3 *db, int rows) {
    static const char *const places[] = {"Berlin", "Cairo", "Lima", "Oslo", "Quito", "Tokyo", "Turku"};
    sqlite3_stmt *insert;
    unsigned seed = 7;
    int i;
    run(db, "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, place TEXT, age INT, score REAL)");
    run(db, "CREATE TABLE friend(a INT, b INT, since INT)");
    run(db, "BEGIN");
    sqlite3_prepare_v2(db, "INSERT INTO person VALUES(?,?,?,?,?)", -1, &insert, NULL);
    for (i = 0; i < rows; i++) {
        char name[32];
        snprintf(name, sizeof name, "name%u", next(&seed) % 1000);
        sqlite3_bind_int(insert, 1, i);
        sqlite3_bind_text(insert, 2, name, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(insert, 3, places[next(&seed) % 7], -1, SQLITE_STATIC);
        sqlite3_bind_int(insert, 4, (int)(next(&seed) % 90));
        sqlite3_bind_double(insert, 5, (next(&seed) % 10000) / 7.0);
        sqlite3_step(insert);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    sqlite3_prepare_v2(db, "INSERT INTO friend VALUES(?,?,?)", -1, &insert, NULL);
    for (i = 0; i < rows * 2; i++) {
        sqlite3_bind_int(insert, 1, (int)(next(&seed) % (unsigned)rows));
        sqlite3_bind_int(insert, 2, (int)(next(&seed) % (unsigned)rows));
        sqlite3_bind_int(insert, 3, 1990 + (int)(next(&seed) % 30));
        sqlite3_step(insert);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    run(db, "COMMIT");
}

static void ask(sqlite3 *db) {
    run(db, "SELECT place, count(*), round(avg(score), 3), max(age) FROM person GROUP BY place ORDER BY 2 DESC, 1");
    run(db, "CREATE INDEX by_place ON person(place, age)");
    run(db, "CREATE INDEX by_a ON friend(a)");
    run(db, "SELECT p.place, q.place, count(*) FROM friend f JOIN person p ON p.id = f.a JOIN person q ON q.id = f.b"
            " WHERE p.age > 30 AND q.age < 60 GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 5");
    run(db, "SELECT name, age FROM person WHERE name LIKE '%99%' AND place IN ('Oslo', 'Lima') ORDER BY age, id LIMIT 5");
    run(db, "UPDATE person SET score = score * 1.1, name = upper(name) WHERE age % 7 = 3");
    run(db, "DELETE FROM person WHERE id % 11 = 5");
    run(db, "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 2000)"
            " SELECT sum(x * x % 13), group_concat(DISTINCT x % 5) FROM n");
    run(db, "SELECT substr(name, 1, 5), sum(score) > 100, total(age) FROM person GROUP BY 1 ORDER BY 1 LIMIT 4");
    run(db, "SELECT a, since, rank() OVER (PARTITION BY since ORDER BY a, b) FROM friend ORDER BY 3 DESC, 1, 2 LIMIT 3");
    run(db, "SELECT nothing FROM nowhere");
    run(db, "PRAGMA integrity_check");
}

int main(int argc, char **argv) {
    int rows = argc > 1 ? atoi(argv[1]) : 100;
    const char *file = argc > 2 ? argv[2] : "test.db";
    sqlite3 *db;
    printf("%s\n", sqlite3_libversion());
    if (sqlite3_open(":memory:", &db) != SQLITE_OK) {
        return 1;
    }
    fill(db, rows);
    ask(db);
    sqlite3_close(db);

    remove(file);
    if (sqlite3_open(file, &db) != SQLITE_OK) {
        return 1;
    }
    fill(db, 200);
    sqlite3_close(db);
    if (sqlite3_open(file, &db) != SQLITE_OK) {
        return 1;
    }
    ask(db);
    sqlite3_close(db);
    remove(file);
    return 0;
}
