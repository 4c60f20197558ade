/* processes_mapped.h: the profile that a running process has mapped. */
#ifndef PROFILE_PROCESSES_MAPPED_H
#define PROFILE_PROCESSES_MAPPED_H

#include "format/format.h"
#include "util/arena.h"

/* A shared, writable mapping of the beginning of a file, from /proc/PID/maps. */
struct mapping {
    uint64_t start, end;
    uint32_t device_major, device_minor;
    uint64_t inode;
    const char *path; // Path in the line: the one we would use, if the file is reachable from here.
};

/* Parse LINE of a maps file, and remove its end of line. Return false if it is no such mapping. */
bool mapping_parse(char *line, struct mapping *ret);

enum mapped_result {
    MAPPED_FOUND,
    MAPPED_NONE,   // It has none.
    MAPPED_HIDDEN, // It may have one, but we may not look.
};

struct mapped {
    const char *path; // FOUND: path to open. HIDDEN: the inaccessible path; NULL = the process.
    int error;        // HIDDEN: the number of the error.
    struct disk_header header; // FOUND
};

/* Find the profile that process PID, which must live, has mapped, even if its path differs for us.
 * Strings are from ARENA. */
enum mapped_result mapped_profile(uint32_t pid, struct arena *arena, struct mapped *ret);

/* Return true if the recorder is among the libraries of process PID. False if we lack
 * permission. */
bool mapped_recorder(uint32_t pid);

#endif
