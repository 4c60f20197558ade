/* listing.h: list the profiles in directories, each once. */
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
    uint64_t device, inode; // The file that a link leads to; 0 = inaccessible.
    struct recording_key key;
    uint32_t nearness; // To the recorder's output (listing.c),
    uint64_t last_ns;  // and until when.
    bool is_link, is_readable;
};

/* Profile files. The caller sets the arena of all texts and the wanted kinds. */
struct listing {
    struct arena *arena;
    uint64_t session_id; // If not 0, list only readable profiles of that session, without links.
    time_t since;        // Only files that may have changed since then; 0 = all.
    struct listed *v;
    size_t count, capacity;
};

/* Add the profiles in DIRECTORY. Returns 0, or -1 with errno if that cannot be read. */
int listing_add(struct listing *l, const char *directory);

/* Return the sorted paths of L and their number. The array is from L's arena. Reduces L, in the
 * same order, to one path for each file, without copies of recordings that are also in L. */
const char **listing_paths(struct listing *l, size_t *ret_count);

/* Return the session directory of the run that wrote the profile PATH, and the number of its
 * profiles; NULL if there are no others. From ARENA. */
const char *listing_session_of(const char *path, struct arena *arena, size_t *ret_count);

/* The profile files of the session directory WHAT, sorted by name, into an array from ARENA: also
 * those that cannot be read, and none that is a copy of another. A file or pid gives
 * itself alone. Returns 0 or HEAPTAP_BAD_INPUT. */
int profile_list_session(const char *what, struct arena *arena, const char ***ret_paths,
                         size_t *ret_count, struct err *err);

#endif
