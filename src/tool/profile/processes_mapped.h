/* processes_mapped.h: find the profile that a running process has mapped. */
#ifndef PROFILE_PROCESSES_MAPPED_H
#define PROFILE_PROCESSES_MAPPED_H

#include "format/format.h"
#include "util/arena.h"

/* A shared, writable mapping of the beginning of a file, from /proc/PID/maps. */
struct mapping {
    uint64_t start, end;
    uint32_t device_major, device_minor;
    uint64_t inode;
    const char *path; // Path in the line: the path that we would use, if the file is reachable from
                      // here.
};

/* Parse LINE of a maps file after removing its end of line. Return false if it is not a shared,
 * writable mapping of a file's beginning. */
bool mapping_parse(char *line, struct mapping *ret);

enum mapped_result {
    MAPPED_FOUND,
    MAPPED_NONE,   // The process has no profile mapped.
    MAPPED_HIDDEN, // The process may have one, but we lack permission to see it.
};

struct mapped {
    const char *path; // FOUND: path to open. HIDDEN: the inaccessible file; NULL = the process
                      // itself is inaccessible.
    int error;        // HIDDEN: the error number.
    struct disk_header header; // FOUND
};

/* Find the profile that process PID has mapped, even if the path differs for us. PID must be alive.
 * Strings are from ARENA. */
enum mapped_result mapped_profile(uint32_t pid, struct arena *arena, struct mapped *ret);

/* Return true if process PID has loaded the recorder; false also if we lack permission to read its
 * mappings. */
bool mapped_recorder(uint32_t pid);

#endif
