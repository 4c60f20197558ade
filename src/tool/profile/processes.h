/* processes.h: facts from /proc about a running process. */
#ifndef PROFILE_PROCESSES_H
#define PROFILE_PROCESSES_H

#include "format/format.h"
#include "util/arena.h"

/* Return the time when process PID started, in clock ticks since boot; 0 if it is not alive. */
uint64_t processes_start(uint32_t pid);

/* Return the id of process PID in its innermost pid namespace; PID itself if that is our namespace,
 * 0 if the process is gone. */
uint32_t processes_inner_pid(uint32_t pid);

/* Return a thread of process PID through which /proc shows its memory and its root: PID itself, or
 * another if the first thread has ended. */
uint32_t processes_thread(uint32_t pid);

/* Return true if process PID (0 = this one) was executed with the variable NAME in its environment.
 * NAME may also be NAME=VALUE. */
bool processes_has_variable(uint32_t pid, const char *name);

/* Return our path to the root directory of process PID, from ARENA. Return NULL if it is our own
 * root directory, or unknown. */
const char *processes_root(uint32_t pid, struct arena *arena);

/* A process in another pid namespace. */
struct processes_unrelated {
    uint32_t pid, inner_pid;
};

/* Return the living processes of other pid namespaces, at most half a second out of date. Valid
 * until the next call. */
const struct processes_unrelated *processes_find_unrelated(size_t *ret_count);

/* --- processes_mapped.c: find the profile that a running process has mapped. */

/* A shared, writable mapping of the beginning of a file, from /proc/PID/maps. */
struct mapping {
    uint64_t start, end;
    uint32_t device_major, device_minor;
    uint64_t inode;
    // Path in the line: the path that we would use, if the file is reachable from here.
    const char *path;
};

/* Parse LINE of a maps file after removing its end of line. Return false if it is not a shared,
 * writable mapping of a file's beginning. */
bool mapping_parse(char *line, struct mapping *ret);

enum mapped_result {
    MAPPED_FOUND,
    MAPPED_NONE,   // The process has no profile mapped.
    MAPPED_HIDDEN, // The process may have a profile mapped, but we lack permission to see it.
};

struct mapped {
    // FOUND: path to open. HIDDEN: the inaccessible file; NULL = the process itself is
    // inaccessible.
    const char *path;
    int error;        // HIDDEN: the error number.
    struct disk_header header; // FOUND
};

/* Find the profile that process PID has mapped, even if the path differs for us. PID must be alive.
 * Strings are from ARENA. */
enum mapped_result mapped_profile(uint32_t pid, struct arena *arena, struct mapped *ret);

/* Return true if process PID has loaded the recorder; false also if we lack permission to read its
 * mappings. */
bool mapped_recorder(uint32_t pid);

/* --- processes_owner.c: determine whether a process still writes a profile, and its id in our
 * namespace. */

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
