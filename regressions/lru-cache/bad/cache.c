/* A cache that forgets what was not used for longest. */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

void cache_init(struct cache *cache, int limit) {
    memset(cache, 0, sizeof *cache);
    cache->limit = limit;
}

static void unlink_entry(struct cache *cache, struct entry *entry) {
    entry->newer->older = entry->older;
    if (cache->oldest == entry)
        cache->oldest = entry->newer;
    else
        entry->older->newer = entry->newer;
    entry->newer = NULL;
    entry->older = NULL;
}

static void link_newest(struct cache *cache, struct entry *entry) {
    entry->older = cache->newest;
    entry->newer = NULL;
    if (cache->newest)
        cache->newest->newer = entry;
    else
        cache->oldest = entry;
    cache->newest = entry;
}

static struct entry *find(struct cache *cache, const char *key) {
    struct entry *entry;
    for (entry = cache->newest; entry; entry = entry->older)
        if (strcmp(entry->key, key) == 0)
            return entry;
    return NULL;
}

int cache_get(struct cache *cache, const char *key, int *value) {
    struct entry *entry = find(cache, key);
    if (entry == NULL) {
        cache->misses++;
        return 0;
    }
    unlink_entry(cache, entry);
    link_newest(cache, entry);
    cache->hits++;
    *value = entry->value;
    return 1;
}

static void evict(struct cache *cache) {
    struct entry *entry = cache->oldest;
    unlink_entry(cache, entry);
    free(entry->key);
    free(entry);
    cache->count--;
}

void cache_put(struct cache *cache, const char *key, int value) {
    struct entry *entry;
    while (cache->count >= cache->limit)
        evict(cache);
    entry = calloc(1, sizeof *entry);
    entry->key = strdup(key);
    entry->value = value;
    link_newest(cache, entry);
    cache->count++;
}

void cache_free(struct cache *cache) {
    while (cache->oldest)
        evict(cache);
}
