#include "editor.h"

#include <stdlib.h>

void history_note(struct history *history, enum change change, int at, const char *before) {
    struct step *step;

    if (history->count == history->room) {
        history->room = history->room ? 2 * history->room : 8;
        history->steps = realloc(history->steps, (size_t)history->room * sizeof *step);
        if (history->steps == NULL)
            abort();
    }
    step = &history->steps[history->count++];
    step->change = change;
    step->at = at;
    step->before = before ? copy_of(before) : NULL;
    step->group = history->group;
}

static void take_back(struct text *text, const struct step *step) {
    switch (step->change) {
    case INSERTED:
        text_delete(text, step->at);
        break;
    case DELETED:
        text_insert(text, step->at, step->before);
        break;
    case REPLACED:
        text_replace(text, step->at, step->before);
        break;
    }
}

int history_undo(struct history *history, struct text *text) {
    int group;

    if (history->count == 0)
        return 0;
    group = history->steps[history->count - 1].group;
    while (history->count > 0 && history->steps[history->count - 1].group == group) {
        struct step *step = &history->steps[--history->count];
        take_back(text, step);
        free(step->before);
    }
    return 1;
}

void history_free(struct history *history) {
    for (int i = 0; i < history->count; i++)
        free(history->steps[i].before);
    free(history->steps);
}
