#include "../src/pick.h"

#include <CoreFoundation/CoreFoundation.h>

void system_slashes(char *path) {
    for (; *path; path++)
        if (*path == ':')
            *path = '/';
}

int system_fold_case(void) {
    return 1;
}

static CFStringRef normal(const char *path) {
    CFMutableStringRef text = CFStringCreateMutable(NULL, 0);
    CFStringAppendCString(text, path, kCFStringEncodingUTF8);
    CFStringNormalize(text, kCFStringNormalizationFormD);
    return text;
}

int same_name(const char *a, const char *b) {
    CFStringRef first = normal(a), second = normal(b);
    int same = CFStringCompare(first, second, 0) == kCFCompareEqualTo;
    CFRelease(first);
    CFRelease(second);
    return same;
}
