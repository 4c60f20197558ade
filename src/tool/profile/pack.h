/* pack.h: write a profile that is readable on any machine. */
#ifndef PROFILE_PACK_H
#define PROFILE_PACK_H

#include "profile/profile.h"
#include "profile/raw.h"

/* Write a packed copy of the profile file IN_PATH, from which P was loaded, to OUT_PATH. The copy
 * has the used part of each table, compressed, and P's symbols. OUT_PATH is replaced atomically,
 * and may be IN_PATH. It must not be the profile of a living process: that would keep writing into
 * a file without a name. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
int pack_write(const char *in_path, const struct profile *p, const char *out_path, struct err *err);

/* Like pack_write, for a caller that still has RAW, the tables of IN_PATH (profile_open_tables).
 * Modifies RAW. */
int pack_tables(const char *in_path, struct raw_file *raw, const struct profile *p,
                const char *out_path, struct err *err);

#endif
