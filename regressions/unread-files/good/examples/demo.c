/* How to use the rules in a program. */
#include "../src/pick.h"

int main(void) {
    struct ignore_rules rules = {NULL, 0};
    if (!ignore_load(&rules, "c.rules"))
        return 1;
    if (ignore_path(&rules, "src/main.o"))
        printf("ignored\n");
    ignore_free(&rules);
    return 0;
}
