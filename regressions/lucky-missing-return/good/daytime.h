#ifndef DAYTIME_H
#define DAYTIME_H

#define DAY_MINUTES (24 * 60)

/* Reads `9:05` as minutes since midnight; -1 if it is no time. */
int daytime_parse(const char *text);

/* Minutes from one time to another, over midnight if need be. */
int daytime_between(int from, int to);

/* Writes `9:05`. */
void daytime_write(int minutes, char *text, int room);

#endif
