#include "../src/pick.h"

#include <windows.h>

void system_slashes(char *path) {
    for (; *path; path++)
        if (*path == '\\')
            *path = '/';
}

int system_fold_case(void) {
    return 1;
}

int pattern_matches_folder(const char *pattern, const char *text) {
    char folder[MAX_PATH];
    strncpy(folder, text, sizeof folder);
    strcat(folder, "/");
    return pattern_matches(pattern, folder);
}

int ignore_path_attributes(const char *path) {
    DWORD attributes = GetFileAttributesA(path);
    if (attributes == INVALID_FILE_ATTRIBUTES)
        return 0;
    return (attributes & FILE_ATTRIBUTE_HIDDEN) != 0;
}
