/* listing.h: list the profiles in directories, each recording once. */
#ifndef PROFILE_LISTING_H
#define PROFILE_LISTING_H

#include <time.h>

#include "util/arena.h"
#include "util/err.h"

/* Identity of a recording; zero = unknown. No padding. */
struct recording_key {
    uint64_t process_start, start_unix_ns, start_monotonic_ns, session_id, pid;
};

struct listed {
    const char *path;
    uint64_t device, inode; // Identity of the file, or of a link's target; 0 = inaccessible.
    struct recording_key key;
    // Rank among the files of the same recording (listing.c); higher = preferred.
    uint32_t nearness;
    uint64_t last_ns;  // Time of the latest data.
    unsigned fit;      // Result of the listing's fit_of; 0 without it.
    // 1 = the file that the recorder mapped, by its inode; -1 = a copy of it; 0 = unknown, as
    // without fit_of.
    int original;
    bool is_link, is_readable;
};

/* List of profile files. The caller sets the arena for all texts, and the filters. */
struct listing {
    struct arena *arena;
    uint64_t session_id; // If not 0, list only readable profiles of that session, without links.
    time_t since;        // List only files that may have changed since this time; 0 = no limit.
    // Return how well PATH fits as the recorder's own file of process PID; 0 = moved or copied
    // there. NULL = unknown. Among the files of a recording, the one that fits best is preferred,
    // unless another has later data.
    unsigned (*fit_of)(void *arg, const char *path, uint32_t pid);
    void *fit_arg;
    struct listed *v;
    size_t count, capacity;
};

/* Add the profiles in DIRECTORY; hidden files only if L has a session. Returns 0, or -1 with errno
 * set if DIRECTORY cannot be read. */
int listing_add(struct listing *l, const char *directory);

/* Return the sorted paths of L and their number, as an array from L's arena. L itself is reduced to
 * the same entries: one path for each file, and one file for each recording. */
const char **listing_paths(struct listing *l, size_t *ret_count);

/* Return the directory of the session that the profile PATH belongs to, and the number of the
 * session's profiles. Return NULL if PATH is the only one. From ARENA. */
const char *listing_session_of(const char *path, struct arena *arena, size_t *ret_count);

/* List the profile files of the session directory WHAT, sorted by name, in an array from ARENA. The
 * list includes unreadable files and excludes copies of others. If WHAT is a file or a pid, the
 * list has only WHAT. Returns 0 or HEAPTAP_BAD_INPUT. */
int profile_list_session(const char *what, struct arena *arena, const char ***ret_paths,
                         size_t *ret_count, struct err *err);

#endif
