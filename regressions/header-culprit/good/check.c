#include "telem.h"

static int check_field(const struct frame *frame, const struct group *group, const struct field *field) {
    double value;

    if (!field_value(frame, field, &value)) {
        printf("line %d: %s: no %s\n", frame->line, group->name, field->name);
        return 1;
    }
    if (value < field->low || value > field->high) {
        printf("line %d: %s: %s is %g%s\n", frame->line, group->name, field->name, value, field->unit);
        return 1;
    }
    return 0;
}

int check_frame(const struct frame *frame) {
    const struct group *group = find_group(frame->bytes[0]);
    int problems = 0;

    if (group == NULL) {
        printf("line %d: unknown kind %02x\n", frame->line, frame->bytes[0]);
        return 1;
    }
    for (int i = 0; i < group->count; i++)
        problems += check_field(frame, group, &group->fields[i]);
    return problems;
}

int check_counters(const struct frame *frames, int count) {
    int problems = 0;
    for (int i = 1; i < count; i++) {
        uint8_t expected = (uint8_t)(frames[i - 1].bytes[1] + 1);
        if (frames[i].bytes[1] != expected) {
            printf("line %d: frame %d after %d\n", frames[i].line, frames[i].bytes[1], frames[i - 1].bytes[1]);
            problems++;
        }
    }
    return problems;
}
