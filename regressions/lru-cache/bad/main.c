#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"

static int cost(const char *key) {
    int sum = 0;
    for (; *key; key++)
        sum = 31 * sum + *key;
    return sum;
}

int main(int argc, char **argv) {
    struct cache cache;

    if (argc < 2) {
        fprintf(stderr, "usage: lookup LIMIT KEY...\n");
        return 2;
    }
    cache_init(&cache, atoi(argv[1]));
    for (int i = 2; i < argc; i++) {
        int value;
        if (!cache_get(&cache, argv[i], &value)) {
            value = cost(argv[i]);
            cache_put(&cache, argv[i], value);
        }
        printf("%s %d\n", argv[i], value);
    }
    printf("%d hits, %d misses\n", cache.hits, cache.misses);
    cache_free(&cache);
    return 0;
}
