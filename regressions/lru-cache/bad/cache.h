#ifndef CACHE_H
#define CACHE_H

struct entry {
    char *key;
    int value;
    struct entry *newer;
    struct entry *older;
};

struct cache {
    struct entry *newest;
    struct entry *oldest;
    int count;
    int limit;
    int hits;
    int misses;
};

void cache_init(struct cache *cache, int limit);
int cache_get(struct cache *cache, const char *key, int *value);
void cache_put(struct cache *cache, const char *key, int value);
void cache_free(struct cache *cache);

#endif
