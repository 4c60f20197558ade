/* memory_profile.h: profile that the recorder keeps in the memory of the process. */
#ifndef IMAGE_MEMORY_PROFILE_H
#define IMAGE_MEMORY_PROFILE_H

#include "format/core_record.h"
#include "format/format.h"
#include "image/blocks.h"
#include "image/memory.h"
#include "profile/raw.h"
#include "util/strbuf.h"

/* Copy the profile in memory of record R of M (CORE_SELF_CONTAINED) to RET, which must be empty, as
 * the bytes of a file. Bytes that the dump lacks become zeros, which readers ignore. *RET_MISSING
 * is their number. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
int memory_profile(const struct memory *m, const struct core_record *r, struct strbuf *ret,
                   uint64_t *ret_missing, struct err *err);

/* --- find_record.c: find the recorder's record in the memory of a process
 * (format/core_record.h). */

/* Find the recorder's record in M. Returns 0; HEAPTAP_NOT_FOUND if the process was not recorded or
 * the dump lacks the record; or HEAPTAP_BAD_INPUT with ERR set if another version wrote it. */
int record_find(const struct memory *m, struct core_record *ret, struct err *err);

/* Find the origin, a variable that a recording process leaves for its forked children. Return false
 * if M has none, or if M is the recording process itself. */
bool record_find_origin(const struct memory *m, struct core_origin *ret);

/* Return a record for a child of O that has recorded nothing. */
struct core_record record_of_child(const struct core_origin *o);

/* Return true if H is the header of the profile that belongs to R. */
bool record_is_of(const struct core_record *r, const struct disk_header *h);

/* Return the path of the profile of R, from ARENA, or NULL. It may be at its original path; in the
 * directory of that path, of the dump BESIDE (or NULL), or the current one; or among the other
 * processes of a run in one of these. */
const char *record_find_profile(const struct core_record *r, const char *beside,
                                struct arena *arena);

/* --- heap_snapshot.c: profile of one moment, made from the memory of a process. */

/* Write a profile file of the live blocks B with the stacks of RAW to RET. Its only events are one
 * allocation for each block. NAME is the source of B, for a note in the file. ENDED is true if the
 * process has ended. Returns 0, or HEAPTAP_BUG with ERR set. */
int heap_snapshot_write(const struct raw_file *raw, const struct blocks *b, const char *name,
                        bool ended, struct strbuf *ret, struct err *err);

#endif
