#include "telem.h"

static const struct group *const groups[] = { &engine_group, &position_group, &power_group };

const struct group *find_group(int kind) {
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if ((int)groups[i]->kind == kind)
            return groups[i];
    return NULL;
}

int field_value(const struct frame *frame, const struct field *field, double *value) {
    uint32_t raw = 0;
    double number;

    if (field->offset + field->width > frame->size)
        return 0;
    for (int i = field->width - 1; i >= 0; i--)
        raw = raw << 8 | frame->bytes[field->offset + i];
    number = raw;
    if (field->is_signed && raw >> (8 * field->width - 1) != 0)
        number -= (double)(1ull << (8 * field->width));
    *value = number / field->divisor;
    return 1;
}

void print_frame(const struct frame *frame) {
    const struct group *group = find_group(frame->bytes[0]);
    double value;

    if (group == NULL) {
        printf("#%d unknown\n", frame->bytes[1]);
        return;
    }
    printf("#%d %s:", frame->bytes[1], group->name);
    for (int i = 0; i < group->count; i++) {
        const struct field *field = &group->fields[i];
        if (field_value(frame, field, &value))
            printf(" %s=%g%s", field->name, value, field->unit);
    }
    putchar('\n');
}
