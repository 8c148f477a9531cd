/* Alarm of two aircraft: seven bytes, one decision. */
#include <stdio.h>

int main(void) {
    int own = getchar(), other = getchar(), rate = getchar(), space = getchar();
    int valid = getchar() & 1, equipped = getchar() & 1, layer = getchar() & 3;
    int limit = layer == 0 ? 40 : layer == 1 ? 50 : layer == 2 ? 64 : 74;
    int enabled = valid && rate <= 60 && space > limit;
    int need_up = own < other && space >= limit;
    int need_down = other < own && space >= limit;
    int alarm = 0;
    if (enabled && equipped) {
        if (need_up && need_down)
            alarm = 0;
        else if (need_up)
            alarm = 1;
        else if (need_down)
            alarm = 2;
    }
    printf("%d\n", alarm);
    return 0;
}
