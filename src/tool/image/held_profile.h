/* held_profile.h: profile that the recorder keeps in the memory of the process. */
#ifndef IMAGE_HELD_PROFILE_H
#define IMAGE_HELD_PROFILE_H

#include "format/core_record.h"
#include "image/memory.h"
#include "util/strbuf.h"

/* Copy the profile in memory of record R of M (CORE_SELF_CONTAINED) to RET, which must be empty, as
 * the bytes of a file. Bytes that the dump lacks become zeros, which readers ignore. *RET_MISSING
 * is their number. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
int held_profile(const struct memory *m, const struct core_record *r, struct strbuf *ret,
                 uint64_t *ret_missing, struct err *err);

#endif
