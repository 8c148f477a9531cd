#ifndef SEASON_H
#define SEASON_H

const char *season(long day);

#endif
