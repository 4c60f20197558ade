/* pack.h: a profile that reads anywhere. */
#ifndef PROFILE_PACK_H
#define PROFILE_PACK_H

#include "profile/profile.h"
#include "profile/raw.h"

/* Write to OUT_PATH a packed copy of the profile file IN_PATH, from which P was loaded: tables
 * cut to what is used and compressed, P's symbols included as far as it has them. OUT_PATH is
 * replaced in one step, and may be IN_PATH. It must not be the profile of a process that lives,
 * which would go on writing into a file without a name. Returns 0 or HEAPTAP_BAD_INPUT
 * with ERR set. */
int pack_write(const char *in_path, const struct profile *p, const char *out_path, struct err *err);

/* The same for who still has RAW, the tables of IN_PATH (profile_open_tables). They are changed. */
int pack_tables(const char *in_path, struct raw_file *raw, const struct profile *p,
                const char *out_path, struct err *err);

#endif
