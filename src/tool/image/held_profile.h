/* held_profile.h: a profile that is in the memory of its process. */
#ifndef IMAGE_HELD_PROFILE_H
#define IMAGE_HELD_PROFILE_H

#include "format/core_record.h"
#include "image/memory.h"
#include "util/strbuf.h"

/* Put together the bytes of the profile that record R of M has in memory (CORE_SELF_CONTAINED),
 * into RET, which was empty. What of it is missing in a dump is zeros, which a profile reads as
 * nothing; *RET_MISSING is how many bytes. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
int held_profile(const struct memory *m, const struct core_record *r, struct strbuf *ret,
                 uint64_t *ret_missing, struct err *err);

#endif
