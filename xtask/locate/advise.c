/* Advice for two aircraft, in the manner of a collision avoidance system: twelve numbers a line. */
#include <stdio.h>

#define ALT_STEP 100

static int confidence;
static int own_altitude;
static int own_rate;
static int other_altitude;
static int other_rate;
static int separation;
static int up_space;
static int down_space;
static int other_advice;
static int other_equipped;
static int climb_inhibited;
static int layer;

static int minimum_separation = 300;
static int maximum_rate = 600;
static int margin = 50;
static int threshold[4] = {400, 500, 640, 740};
static int advised = 0;

static int limit(void) {
    if (layer < 0)
        return threshold[0];
    if (layer > 3)
        return threshold[3];
    return threshold[layer];
}

static int gap(void) {
    int distance = own_altitude - other_altitude;
    if (distance < 0)
        distance = -distance;
    return distance;
}

static int biased_up(void) {
    if (climb_inhibited)
        return up_space + ALT_STEP;
    return up_space;
}

static int own_below(void) {
    return own_altitude < other_altitude;
}

static int own_above(void) {
    return other_altitude < own_altitude;
}

static int closing(void) {
    int relative = own_rate - other_rate;
    if (own_below())
        return relative > 0;
    return relative < 0;
}

static int seconds_left(void) {
    int relative = own_rate - other_rate;
    if (relative < 0)
        relative = -relative;
    if (relative == 0)
        return 999;
    return gap() * 60 / relative;
}

static int climb_wanted(void) {
    int prefers_up = biased_up() > down_space;
    int result;
    if (prefers_up) {
        result = !own_below() || (own_below() && down_space < limit());
    } else {
        result = own_above() && separation >= minimum_separation && up_space >= limit();
    }
    return result;
}

static int descend_wanted(void) {
    int prefers_up = biased_up() > down_space;
    int result;
    if (prefers_up) {
        result = own_below() && separation >= minimum_separation && down_space >= limit();
    } else {
        result = !own_above() || (own_above() && up_space >= limit());
    }
    return result;
}

static int advise(void) {
    int enabled = confidence > 0 && own_rate <= maximum_rate && separation > minimum_separation / 2;
    int equipped = other_equipped == 1;
    int free_choice = equipped && other_advice == 0;
    int advice = 0;
    if (enabled && (free_choice || !equipped)) {
        int up = climb_wanted() && own_below();
        int down = descend_wanted() && own_above();
        if (up && down)
            advice = 0;
        else if (up)
            advice = 1;
        else if (down)
            advice = 2;
        else
            advice = 0;
    } else if (enabled && other_advice == 1) {
        advice = 2;
    } else if (enabled && other_advice == 2) {
        advice = 1;
    }
    if (advice != 0 && gap() > limit() + margin && !closing())
        advice = 3;
    if (advice == 0 && closing() && seconds_left() < 30)
        advice = 4;
    return advice;
}

static void report(int number, int advice) {
    if (advice != 0)
        advised++;
    switch (advice) {
    case 0:
        printf("%d: keep\n", number);
        break;
    case 1:
        printf("%d: climb to %d\n", number, own_altitude + ALT_STEP);
        break;
    case 2:
        printf("%d: descend to %d\n", number, own_altitude - ALT_STEP);
        break;
    case 3:
        printf("%d: watch, %d apart\n", number, gap());
        break;
    default:
        printf("%d: alarm, %d s left\n", number, seconds_left());
        break;
    }
}

int main(void) {
    int number = 0;
    while (scanf("%d %d %d %d %d %d", &confidence, &own_altitude, &own_rate, &other_altitude, &other_rate, &separation) == 6) {
        if (scanf("%d %d %d %d %d %d", &up_space, &down_space, &other_advice, &other_equipped, &climb_inhibited, &layer) != 6) {
            printf("short line\n");
            return 1;
        }
        number++;
        report(number, advise());
    }
    printf("%d of %d advised\n", advised, number);
    return 0;
}
