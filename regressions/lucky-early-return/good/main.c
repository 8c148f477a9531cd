#include <stdio.h>
#include <string.h>

#include "plan.h"
#include "rules.h"
#include "stale.h"

static struct rules rules;
static struct staleness staleness;
static struct plan plan;

/* Asks for targets by name, and for what they need. */
static int ask(const char *name) {
    int target = rules_find(&rules, name);
    int i;
    if (target < 0) {
        fprintf(stderr, "rebuild: no rule for %s\n", name);
        return 0;
    }
    for (i = 0; i < plan.count; i++)
        if (plan.steps[i].target == target)
            return 1;
    if (staleness.reason[target] == UP_TO_DATE)
        return 1;
    for (i = 0; i < rules.targets[target].need_count; i++)
        ask(rules.targets[rules.targets[target].needs[i]].name);
    plan_add(&plan, target, staleness.level[target]);
    return 1;
}

int main(int argc, char **argv) {
    int i, failed = 0;
    FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
    if (!in) {
        perror(argv[1]);
        return 2;
    }
    rules_read(&rules, in);
    if (in != stdin)
        fclose(in);
    stale_find(&staleness, &rules);
    if (staleness.circular) {
        printf("circular\n");
        return 1;
    }
    plan_init(&plan);
    if (argc > 2) {
        for (i = 2; i < argc; i++)
            failed |= !ask(argv[i]);
    } else {
        plan_make(&plan, &rules, &staleness);
    }
    plan_arrange(&plan, &rules);
    plan_print(&plan, &rules, &staleness, stdout);
    return failed || rules.problems ? 1 : 0;
}
