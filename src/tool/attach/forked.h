/* forked.h: find the processes that a recorded process has forked, with copies of its recorder. */
#ifndef ATTACH_FORKED_H
#define ATTACH_FORKED_H

#include "util/arena.h"

/* List the processes with a copy of the recorder that was attached to process PID and writes
 * PROFILE; NULL = any. SAME_PROGRAM: PID still runs the program that was attached to, so only
 * processes with this program are read. Return the list from ARENA. *RET_COUNT is their number. */
uint32_t *forked_list(uint32_t pid, const char *profile, bool same_program, struct arena *arena,
                      size_t *ret_count);

#endif
