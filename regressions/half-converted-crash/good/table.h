#ifndef TABLE_H
#define TABLE_H

#define BUCKETS 16
#define SLOTS 64

/* The end of a chain; records are in slots from 1 on. */
#define NONE 0

struct record {
    char *key;
    char *value;
    long expires; /* 0: never */
    int reads;
    int next; /* slot of the next record in the same bucket, or NONE */
};

struct table {
    struct record pool[SLOTS];
    int head[BUCKETS];
    int spare; /* chain of slots that were given back */
    int fresh; /* first slot that was never used */
    int count;
};

void table_init(struct table *t);
void table_free(struct table *t);

/* Slot of a record, or NONE. */
int table_find(const struct table *t, const char *key);

/* Makes or changes a record; returns 0 if the table is full. */
int table_set(struct table *t, const char *key, const char *value);

/* Returns 0 if there was none. */
int table_delete(struct table *t, const char *key);

#endif
