/*
 * A thermostat: three readings, then what the heating does.
 *
 * Beside its decision it keeps what such controllers keep: the extremes, a trend, how often it switched, and a short
 * history of faults for a service panel that this build does not have. Only the state of the valve, and whether the
 * sensor is believed, are put out.
 */
#include <stdio.h>

enum { READINGS = 3, HISTORY = 4 };
enum state { OFF, HEATING, LOCKED };

struct panel {
    int lowest, highest;
    int rising, falling;
    int switched;
    unsigned char faults[HISTORY];
    int next;
};

struct thermostat {
    int target;
    int hysteresis;
    enum state state;
    int implausible;
    struct panel panel;
};

static void note_fault(struct panel *panel, int code) {
    panel->faults[panel->next] = (unsigned char)code;
    panel->next = panel->next + 1 == HISTORY ? 0 : panel->next + 1;
}

static void note_reading(struct panel *panel, int last, int now) {
    if (now < panel->lowest)
        panel->lowest = now;
    if (now > panel->highest)
        panel->highest = now;
    if (now > last + 2)
        panel->rising++;
    else if (now < last - 2)
        panel->falling++;
}

static void change(struct thermostat *t, enum state state) {
    if (t->state != state)
        t->panel.switched++;
    t->state = state;
}

static int is_plausible(int reading) {
    return reading >= 5 && reading <= 120;
}

static void read_one(struct thermostat *t, int last, int now) {
    note_reading(&t->panel, last, now);
    if (!is_plausible(now)) {
        t->implausible++;
        note_fault(&t->panel, now < 5 ? 1 : 2);
        return;
    }
    if (t->state == LOCKED)
        return;
    if (now < t->target - t->hysteresis)
        change(t, HEATING);
    else if (now > t->target + t->hysteresis)
        change(t, OFF);
}

static void check_sensor(struct thermostat *t) {
    if (t->implausible > 2) {
        note_fault(&t->panel, 3);
        change(t, LOCKED);
    }
    if (t->panel.switched > 2)
        note_fault(&t->panel, 4);
}

int main(void) {
    static const char *names[] = {"off", "heating", "locked"};
    struct thermostat t = {40, 3, OFF, 0, {255, 0, 0, 0, 0, {0}, 0}};
    int readings[READINGS];
    for (int n = 0; n < READINGS; n++) {
        readings[n] = getchar();
        if (readings[n] == EOF)
            return 1;
    }
    for (int n = 0; n < READINGS; n++)
        read_one(&t, n > 0 ? readings[n - 1] : readings[0], readings[n]);
    check_sensor(&t);
    printf("valve %s\n", names[t.state]);
    if (t.implausible > 0)
        puts("sensor not believed");
    return 0;
}
