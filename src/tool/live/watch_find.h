/* watch_find.h: find the processes to watch. */
#ifndef LIVE_WATCH_FIND_H
#define LIVE_WATCH_FIND_H

#include "util/arena.h"
#include "util/err.h"

struct found {
    const char *what; // Path of the profile; or the process id, if its profile is in no file.
    uint32_t pid;     // The living process that writes it; 0 = unknown, or none.
};

/* Find the profiles that WHAT (struct watch_options) names, in an array from ARENA. Returns 0, or
 * HEAPTAP_BAD_INPUT with ERR set. */
int watch_find(const char *what, struct arena *arena, struct found **ret, size_t *ret_count,
               struct err *err);

#endif
