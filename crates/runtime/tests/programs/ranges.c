// Ranges that are hard to follow: across a border of blocks, whose shadow lies in two places; lists
// of arguments that code outside has made; strings without an end; mappings that are gone.
#include "hooks.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <wchar.h>

enum { HALF = 1 << 16 };

// The first of two blocks that the runtime did not foresee, `HALF` below its end.
static unsigned char *across(void) {
    for (uint64_t border = 0x200ull << 36; border < 0x600ull << 36; border += 1ull << 36) {
        void *at = (void *)(border - HALF);
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
        if (mmap(at, 2 * HALF, PROT_READ | PROT_WRITE, flags, -1, 0) == at) return at;
    }
    return NULL;
}

static int differs(unsigned char *at) {
    for (int i = 0; i < 2 * HALF; i++)
        if (*SHADOW(at + i) != at[i]) return 1;
    return 0;
}

static char text[64];

// Nobody tells the runtime of this list.
static int outside(const char *format, ...) {
    va_list list;
    va_start(list, format);
    int n = EXTERNAL_(40, vsnprintf, 4, 0, KNOWN_vsnprintf, vsnprintf(text, 64, format, list), 0,
                      W(text), 64, W(format), W(list));
    va_end(list);
    return n;
}

int main(int argc, char **argv) {
    static struct function desc = { &module, 5, 2, "main", 1, 0 };
    uint64_t args[] = { W(argc), W(argv) };
    __relapse_enter(&desc, args);
    __relapse_tls.call = 0;
    CTX->time++;
    if (!CTX->key) return 99;

    static struct site site = { &module, 20, 0 };
    unsigned char *at = across();
    if (!at) return 98;
    unsigned char *border = at + HALF;
    __relapse_set(CTX, &site, CTX->time, border - 300, 7, 600);
    if (differs(at)) return 97;
    for (int i = 0; i < 600; i++) border[i - 300] = (unsigned char)(i * 7);
    __relapse_copy(CTX, &site, CTX->time, border - 250, border - 300, 600);  // up, overlapping
    if (differs(at) || border[-250] != 0 || border[349] != (unsigned char)(599 * 7)) return 96;
    __relapse_copy(CTX, &site, CTX->time, border - 290, border - 250, 600);  // down, overlapping
    if (differs(at) || border[-290] != 0 || border[309] != (unsigned char)(599 * 7)) return 95;
    char *end = (char *)border - 3;
    strcpy(end, "across");
    int n = EXTERNAL_(30, strlen, 1, 0, KNOWN_strlen, strlen(end), 0, W(end));
    if (n != 6 || differs(at)) return 94;

    if (outside("%d %s", 5, "five") != 6 || strcmp(text, "5 five")) return 93;
    if (memcmp(SHADOW(text), text, 7)) return 92;

    wchar_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect((char *)page + 4096, 4096, PROT_NONE);
    wchar_t *two = page + 4096 / sizeof(wchar_t) - 2;
    two[0] = L'o', two[1] = L'k';
    n = EXTERNAL_(50, snprintf, 4, 0, KNOWN_snprintf, snprintf(text, 64, "%.2ls", two), 0, W(text), 64,
                  W("%.2ls"), W(two));
    if (n != 2 || memcmp(SHADOW(two), two, 8)) return 91;

    unsigned char *gone = across();  // in a block that has no shadow yet
    if (!gone) return 90;
    EXTERNAL_(60, munmap, 2, 0, KNOWN_munmap, munmap(gone, 2 * HALF), 0, W(gone), 2 * HALF);
    __relapse_leave(&desc);
    return 0;
}
