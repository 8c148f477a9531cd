#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct file {
    char path[64];
    int exists;
};

static const char *const disk[] = {"src/Main.c", "src/util.c"};

static struct file *find(const char *base, const char *name, int fold) {
    struct file *f = calloc(1, sizeof *f);
    snprintf(f->path, sizeof f->path, "%s/%s", base, name);
    for (int i = 0; i < 2; i++)
        if ((fold ? strcasecmp(disk[i], f->path) : strcmp(disk[i], f->path)) == 0)
            f->exists = 1;
    if (!f->exists) {
        free(f);
        return NULL;
    }
    return f;
}

//@ changed_behavior
//@   when_signaled (signal SIGSEGV) true;
//@   ensures \result == 0;
//@   signals (any) false;
int scan(const char *base, const char *name) {
    struct file *f = find(base, name, 0);
    int found = f != NULL && f->exists;
    free(f);
    return found;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        printf("%d\n", scan("src", argv[i]));
    return 0;
}
