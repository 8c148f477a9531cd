#include "pick.h"

void system_slashes(char *path) {
    (void)path;
}

int system_fold_case(void) {
    return 0;
}
