#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bill.h"
#include "client.h"
#include "daytime.h"
#include "meeting.h"

static struct calendar calendar;
static struct clients clients;

static void usage(void) {
    fprintf(stderr, "usage: invoice STEP CENTS-PER-HOUR < CALENDAR\n");
    exit(2);
}

static void print_meeting(const struct meeting *m, int minutes, long cents) {
    char from[8], to[8];
    daytime_write(m->from, from, (int)sizeof from);
    daytime_write(m->to, to, (int)sizeof to);
    printf("%5s-%5s %4d min %6ld.%02ld  %s: %s\n", from, to, minutes, cents / 100, cents % 100, m->client,
           m->title);
}

int main(int argc, char **argv) {
    struct tariff tariff;
    char line[160];
    int i, wrong = 0;

    if (argc != 3)
        usage();
    tariff.step = atoi(argv[1]);
    tariff.rate = atoi(argv[2]);
    while (fgets(line, sizeof line, stdin)) {
        if (line[0] == '\n' || line[0] == '#')
            continue;
        if (!calendar_add(&calendar, line)) {
            fprintf(stderr, "invoice: %s", line);
            wrong++;
        }
    }
    calendar_sort(&calendar);
    for (i = 0; i < calendar.count; i++) {
        struct meeting *m = &calendar.meetings[i];
        int minutes;
        long cents;
        bill_meeting(m, &tariff);
        minutes = m->minutes;
        cents = bill_cost(minutes, &tariff);
        print_meeting(m, minutes, cents);
        if (!clients_add(&clients, m->client, minutes, cents))
            wrong++;
    }
    clients_print(&clients, stdout);
    printf("%-12s %33ld.%02ld\n", "total", clients_total(&clients) / 100, clients_total(&clients) % 100);
    i = calendar_overlaps(&calendar);
    if (i)
        printf("%d overlap\n", i);
    return wrong ? 1 : 0;
}
