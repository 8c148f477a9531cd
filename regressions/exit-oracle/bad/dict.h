#ifndef DICT_H
#define DICT_H

#define BUCKETS 127

struct node {
    char *key;
    int count;
    struct node *next;
};

struct dict {
    struct node *buckets[BUCKETS];
    int keys;
};

/* The node of a key; it is made if there is none. */
struct node *dict_node(struct dict *dict, const char *key);
void dict_free(struct dict *dict);

#endif
