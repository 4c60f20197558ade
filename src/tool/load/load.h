/* load.h: load a profile file into the model. */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include "profile/profile.h"
#include "profile/raw.h"

/* Load the profile WHAT names: a profile file, a pid being recorded ("1234"), or a session
 * directory with exactly one profile in it (more: see profile_list_session in listing.h). Returns 0
 * and an owned *RET_PROFILE, or HEAPTAP_BAD_INPUT with ERR set. A damaged file loads as far as it
 * is valid, with notes. */
int profile_open(const char *what, struct profile **ret_profile, struct err *err);

/* Like profile_open, but also returns the tables of the file in *RET_RAW, from ARENA. Packing
 * (pack.h) uses them instead of reading the file again. The caller must call raw_release on
 * *RET_RAW, even after a failure. */
int profile_open_tables(const char *what, struct arena *arena, struct raw_file *ret_raw,
                        struct profile **ret_profile, struct err *err);

/* Parse and load the bytes of a profile from the memory of the running process PID, or from a file
 * if PID is 0. Returns 0 or HEAPTAP_BAD_INPUT. */
int load_held(const void *data, size_t size_bytes, const char *name, uint32_t pid,
              struct profile **ret_profile, struct err *err);

/* Parse and load the bytes of a profile file. Returns 0 or HEAPTAP_BAD_INPUT. */
int load_bytes(const void *data, size_t size_bytes, const char *name, struct profile **ret_profile,
               struct err *err);

#endif
