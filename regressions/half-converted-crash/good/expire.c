#include "expire.h"

int expire_after(struct table *t, const char *key, long now, long time) {
    int slot = table_find(t, key);
    if (slot == NONE)
        return 0;
    t->pool[slot].expires = now + time;
    return 1;
}

long expire_left(struct table *t, const char *key, long now) {
    int place = table_find(t, key);
    if (place == NONE)
        return -2;
    return t->pool[place].expires ? t->pool[place].expires - now : -1;
}

int expire_sweep(struct table *t, long now) {
    int b, count = 0;
    for (b = 0; b < BUCKETS; b++) {
        int slot = t->head[b];
        while (slot != NONE) {
            struct record *r = &t->pool[slot];
            slot = r->next;
            if (r->expires && r->expires <= now)
                count += table_delete(t, r->key);
        }
    }
    return count;
}
