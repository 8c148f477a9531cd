#include "season.h"

#include "calendar.h"

const char *season(long day) {
    long at = floor_mod(day, YEAR);
    if (at < 80 || at >= 355)
        return "winter";
    if (at < 172)
        return "spring";
    if (at < 264)
        return "summer";
    return "autumn";
}
