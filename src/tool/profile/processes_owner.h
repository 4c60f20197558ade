/* processes_owner.h: determine whether a process still writes a profile, and its id in our
 * namespace. */
#ifndef PROFILE_PROCESSES_OWNER_H
#define PROFILE_PROCESSES_OWNER_H

#include "format/format.h"

enum owner_state {
    OWNER_GONE,    // No process has the file mapped, as far as we can see.
    OWNER_ALIVE,
    OWNER_UNKNOWN, // No writer is visible, but a hidden one may exist.
};

struct owner {
    enum owner_state state;
    uint32_t pid;         // Id in our /proc; 0 = not visible.
    uint64_t start_ticks; // Start of that process; 0 = not visible.
};

/* Return the process that writes the profile PATH with header H. With PATH NULL, only a process in
 * the same pid namespace is found. */
struct owner owner_find(const char *path, const struct disk_header *h);

/* Return true if the process found by owner_find is still alive, or if it cannot be seen. */
bool owner_is_alive(const struct owner *o);

#endif
