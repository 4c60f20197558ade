/* find_record.h: find the recorder's record in the memory of a process (format/core_record.h). */
#ifndef IMAGE_FIND_RECORD_H
#define IMAGE_FIND_RECORD_H

#include "format/core_record.h"
#include "format/format.h"
#include "image/memory.h"

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

#endif
