/* attach.h: start and end recording in a running process. */
#ifndef ATTACH_ATTACH_H
#define ATTACH_ATTACH_H

#include "util/arena.h"
#include "util/err.h"

/* How to record. */
struct attach_how {
    const char *library;     // Path of libheaptap_attach.so.
    const char *settings;    // For the recorder: "NAME=VALUE", NUL, and so on.
    size_t settings_bytes;   // Without the final empty one.
    int profile_fd;          // The empty profile, open for writing.
    const char *profile;     // Its absolute path.
};

/* Effects of an attach or detach on the process. */
struct attach_cost {
    uint64_t stopped_ns;  // Duration of the stop of all threads.
    uint64_t borrowed_ns; // Duration of the stop of the borrowed thread.
    size_t threads;
    size_t moved;    // Threads that were moved out of overwritten instructions.
    size_t attempts; // Stops of all threads.
};

/* Start recording in process PID. Returns 0, or HEAPTAP_BAD_INPUT with ERR set and the process as
 * before. */
int attach_begin(uint32_t pid, const struct attach_how *how, struct attach_cost *ret,
                 struct err *err);

/* End recording in process PID and remove everything. Returns 0, or HEAPTAP_BAD_INPUT with ERR set;
 * HEAPTAP_NOT_FOUND if nothing is attached. */
int attach_end(uint32_t pid, struct attach_cost *ret, struct err *err);

/* Return the path of the profile of process PID, from ARENA; NULL if no recorder is attached to
 * it. */
const char *attach_profile(uint32_t pid, struct arena *arena);

#endif
