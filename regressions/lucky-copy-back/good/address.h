#ifndef ADDRESS_H
#define ADDRESS_H

#define ROWS 48
#define COLUMNS 8

/* A cell's place, from 0. */
struct address {
    int row;
    int column;
};

/* Cells between two corners, both included. */
struct range {
    struct address first;
    struct address last;
};

/* Reads `B7`; returns what follows, or NULL. */
const char *address_parse(const char *text, struct address *a);

/* Reads `B7` or `B7:C9`; returns what follows, or NULL. */
const char *range_parse(const char *text, struct range *r);

/* Writes `B7`. */
void address_write(const struct address *a, char *text, int room);

/* Follows cells when rows are inserted or taken out at `row`. */
void range_insert_row(struct range *r, int row);
void range_delete_row(struct range *r, int row);

#endif
