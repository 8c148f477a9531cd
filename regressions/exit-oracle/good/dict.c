#include "dict.h"

#include <stdlib.h>
#include <string.h>

static unsigned hash_of(const char *key) {
    unsigned hash = 5381;
    for (; *key; key++)
        hash = hash * 33 + (unsigned char)*key;
    return hash;
}

struct node *dict_node(struct dict *dict, const char *key) {
    unsigned hash = hash_of(key);
    struct node **bucket = &dict->buckets[hash % BUCKETS];
    struct node *node;
    for (node = *bucket; node; node = node->next)
        if (strcmp(node->key, key) == 0)
            return node;
    node = calloc(1, sizeof *node);
    node->key = strdup(key);
    node->next = *bucket;
    *bucket = node;
    dict->keys++;
    return node;
}

void dict_free(struct dict *dict) {
    for (int i = 0; i < BUCKETS; i++) {
        while (dict->buckets[i]) {
            struct node *node = dict->buckets[i];
            dict->buckets[i] = node->next;
            free(node->key);
            free(node);
        }
    }
}
