/* load.h: load a profile file into the model. */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include "profile/profile.h"
#include "profile/raw.h"

/* Load the profile called WHAT: a profile file, the pid of a recorded process ("1234"), or a
 * session directory with exactly one profile (for more, see profile_list_session in listing.h).
 * Returns 0 and an owned *RET_PROFILE, or HEAPTAP_BAD_INPUT with ERR set. The valid parts of a
 * damaged file are loaded, with notes. */
int profile_open(const char *what, struct profile **ret_profile, struct err *err);

/* Like profile_open, but also return the file's tables in *RET_RAW, from ARENA. Packing (pack.h)
 * uses them instead of reading the file again. The caller must call raw_release on *RET_RAW, even
 * after a failure. */
int profile_open_tables(const char *what, struct arena *arena, struct raw_file *ret_raw,
                        struct profile **ret_profile, struct err *err);

/* Parse and load a profile's bytes from the memory of the running process PID, or from a file if
 * PID is 0. Returns 0 or HEAPTAP_BAD_INPUT. */
int load_from_memory(const void *data, size_t size_bytes, const char *name, uint32_t pid,
                     struct profile **ret_profile, struct err *err);

/* Parse and load the bytes of a profile file. Returns 0 or HEAPTAP_BAD_INPUT. */
int load_bytes(const void *data, size_t size_bytes, const char *name, struct profile **ret_profile,
               struct err *err);

#endif
