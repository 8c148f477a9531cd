#include "plan.h"

int main(int argc, char **argv) {
    static struct plan plan;
    FILE *in;
    int wrong, from = 0, to = DAY;

    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: planner FILE [FROM TO]\n");
        return 2;
    }
    in = fopen(argv[1], "r");
    if (in == NULL) {
        perror(argv[1]);
        return 2;
    }
    wrong = plan_load(&plan, in);
    fclose(in);
    if (wrong != 0) {
        fprintf(stderr, "%s:%d: cannot be understood\n", argv[1], wrong);
        return 2;
    }
    if (argc == 4) {
        from = parse_time(argv[2]);
        to = parse_time(argv[3]);
    }
    if (from < 0 || to < from) {
        fprintf(stderr, "planner: no such time\n");
        return 2;
    }
    plan_make(&plan);
    plan_print(&plan, from, to);
    return 0;
}
