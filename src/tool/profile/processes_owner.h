/* processes_owner.h: whether a process still writes a profile, and the id of that process here. */
#ifndef PROFILE_PROCESSES_OWNER_H
#define PROFILE_PROCESSES_OWNER_H

#include "format/format.h"

enum owner_state {
    OWNER_GONE,    // No process has the file mapped, or none that can be seen.
    OWNER_ALIVE,
    OWNER_UNKNOWN, // No writer is visible, but there may be a hidden one.
};

struct owner {
    enum owner_state state;
    uint32_t pid;         // Id in our /proc; 0 = not visible.
    uint64_t start_ticks; // Likewise; with pid.
};

/* Return the process that writes the profile PATH with header H. With PATH NULL, only a process in
 * the same pid namespace is found. */
struct owner owner_find(const char *path, const struct disk_header *h);

/* Return true if the process that owner_find has found still lives; true if it cannot be seen. */
bool owner_is_alive(const struct owner *o);

#endif
