/* The range and the mean of each field, over all frames of its group. */
#include "telem.h"

struct range {
    double least, most, sum;
    int count;
};

static void extend(struct range *range, double value) {
    if (range->count == 0 || value < range->least)
        range->least = value;
    if (range->count == 0 || value > range->most)
        range->most = value;
    range->sum += value;
    range->count++;
}

static void summarise(const struct group *group, const struct field *field, const struct frame *frames, int count) {
    struct range range = { 0, 0, 0, 0 };
    double value;

    for (int i = 0; i < count; i++)
        if (frames[i].bytes[0] == group->kind && field_value(&frames[i], field, &value))
            extend(&range, value);
    if (range.count > 0)
        printf("%s.%s: %g to %g%s, mean %g\n", group->name, field->name, range.least, range.most, field->unit,
               range.sum / range.count);
}

void print_summary(const struct frame *frames, int count) {
    static const enum kind kinds[] = { ENGINE, POSITION, POWER };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct group *group = find_group(kinds[i]);
        for (int j = 0; j < group->count; j++)
            summarise(group, &group->fields[j], frames, count);
    }
}
