// A hash table whose seed is made of whatever differs from run to run.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef SLOTS
#define SLOTS 64
#endif

struct entry {
    char name[8];
    int count;
};

struct table {
    unsigned seed;
    int used;
    struct entry entries[SLOTS];
};

static unsigned mix(unsigned h, uintptr_t word) {
    for (unsigned i = 0; i < sizeof word; i++)
        h ^= (h << 5) + (h >> 2) + ((unsigned char *)&word)[i];
    return h;
}

static unsigned make_seed(struct table *t) {
    struct timespec now;
    unsigned char noise[4];
    unsigned h = (unsigned)time(NULL);
    int fd = open("/dev/urandom", O_RDONLY);
    if (fd >= 0) {
        if (read(fd, noise, sizeof noise) == sizeof noise)
            h = mix(h, noise[0] << 8 | noise[3]);
        close(fd);
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    srand((unsigned)now.tv_nsec);
    h = mix(h, (uintptr_t)t);
    h = mix(h, (uintptr_t)&make_seed);
    h = mix(h, (uintptr_t)getpid());
    return mix(h, (uintptr_t)rand());
}

static struct entry *find(struct table *t, const char *name) {
    unsigned h = t->seed;
    for (const char *p = name; *p; p++)
        h = h * 31 + (unsigned char)*p;
    for (unsigned i = h % SLOTS;; i = (i + 1) % SLOTS) {
        struct entry *e = &t->entries[i];
        if (!e->name[0]) {
            strncpy(e->name, name, sizeof e->name - 1);
            t->used++;
            return e;
        }
        if (!strcmp(e->name, name))
            return e;
    }
}

struct note {
    char text[64];
    long taken;
    int length;
};

int main(int argc, char **argv) {
    static struct table t;
    static struct note note;
    struct stat st;
    char path[] = "/tmp/seedsXXXXXX";
    t.seed = make_seed(&t);
    for (int i = 1; i < argc; i++)
        find(&t, argv[i])->count += i;
    int fd = mkstemp(path);
    if (fd >= 0 && fstat(fd, &st) == 0)
        note.taken = st.st_mtime + (long)st.st_size;
    snprintf(note.text, sizeof note.text, "%s at %p by %d", path, (void *)&t, (int)getpid());
    note.length = (int)(strchr(note.text, ' ') - note.text);
    puts(note.text);
    unlink(path);
    printf("%d used\n", t.used);
    return 0;
}
