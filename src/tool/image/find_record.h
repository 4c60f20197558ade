/* find_record.h: the recorder's record in the memory of a process (format/core_record.h). */
#ifndef IMAGE_FIND_RECORD_H
#define IMAGE_FIND_RECORD_H

#include "format/core_record.h"
#include "format/format.h"
#include "image/memory.h"

/* Find the record of the recorder in M. Returns 0; HEAPTAP_NOT_FOUND if the process was not
 * recorded, or if the dump lacks the record; or HEAPTAP_BAD_INPUT with ERR set if a later version
 * wrote it. */
int record_find(const struct memory *m, struct core_record *ret, struct err *err);

/* Find the origin that the last recording process has left for its children among its variables.
 * Returns false if M has none, or if M is that process. */
bool record_find_origin(const struct memory *m, struct core_origin *ret);

/* Return the record that a child of O has as long as it has recorded nothing. */
struct core_record record_of_child(const struct core_origin *o);

/* Return true if H is the header of the profile that belongs to R. */
bool record_is_of(const struct core_record *r, const struct disk_header *h);

/* Find the profile that belongs to R: at its path, else in the directory of that path, of the dump
 * BESIDE (or NULL) or the current one, or among the other processes of a run there. Returns its
 * path from ARENA, or NULL. */
const char *record_find_profile(const struct core_record *r, const char *beside,
                                struct arena *arena);

#endif
