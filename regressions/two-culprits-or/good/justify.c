#include "fill.h"

/* Rounds of one blank each, from the left and from the right in turn, so that no side of
   the paragraph gets all of them. */
void justify(const struct word *words, const int *gaps, int count, int room, int turn, int *blanks) {
    int missing = room;
    if (count < 2)
        return;
    for (int i = 0; i < count; i++) {
        missing -= words[i].width;
        if (i + 1 < count)
            missing -= gaps[i];
        blanks[i] = gaps[i];
    }
    while (missing > 0) {
        for (int i = 0; i < count - 1 && missing > 0; i++) {
            int place = turn % 2 ? i : count - 2 - i;
            blanks[place]++;
            missing--;
        }
    }
}
