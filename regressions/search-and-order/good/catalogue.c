/* A price list: printed in order of names, and searched by halving. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    char name[16];
    int cents;
};

static struct item items[] = {
    {"quince", 310}, {"apple", 45}, {"plum", 60},  {"cherry", 12},
    {"fig", 80},     {"pear", 55},  {"lemon", 40},
};

#define COUNT ((int)(sizeof items / sizeof items[0]))

static int by_name(const void *left, const void *right) {
    const struct item *a = left;
    const struct item *b = right;
    return strcmp(a->name, b->name);
}

static const struct item *find(const char *name) {
    int low = 0;
    int high = COUNT;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = strcmp(items[middle].name, name);
        if (order == 0)
            return &items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void print_all(void) {
    for (int i = 0; i < COUNT; i++)
        printf("%-10s %3d.%02d\n", items[i].name, items[i].cents / 100, items[i].cents % 100);
}

int main(int argc, char **argv) {
    int missing = 0;
    int total = 0;
    qsort(items, COUNT, sizeof items[0], by_name);
    print_all();
    for (int i = 1; i < argc; i++) {
        const struct item *item = find(argv[i]);
        if (item == NULL) {
            printf("no %s here\n", argv[i]);
            missing++;
            continue;
        }
        total += item->cents;
    }
    printf("total %d.%02d, %d missing\n", total / 100, total % 100, missing);
    return 0;
}
