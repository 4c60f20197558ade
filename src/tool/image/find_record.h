/* find_record.h: the recorder's own words in the memory of a process (format/core_record.h). */
#ifndef IMAGE_FIND_RECORD_H
#define IMAGE_FIND_RECORD_H

#include "format/core_record.h"
#include "format/format.h"
#include "image/memory.h"

/* Find the record of the recorder in M. Returns 0; HEAPTAP_NOT_FOUND if there is none, so that the
 * process was not being recorded, or what is there is missing in the dump; or HEAPTAP_BAD_INPUT
 * with ERR set if it is of a later version. */
int record_find(const struct memory *m, struct core_record *ret, struct err *err);

/* Find in M what the process that recorded last left among its variables for its children. Returns
 * false if there is nothing, or if M is that process itself. */
bool record_find_origin(const struct memory *m, struct core_origin *ret);

/* The record that a child of O would have if it had recorded nothing yet. */
struct core_record record_of_child(const struct core_origin *o);

/* Whether the profile with header H is that of the process of record R. */
bool record_is_of(const struct core_record *r, const struct disk_header *h);

/* Where the profile that belongs to R can be read: what its path says, a file beside it or beside
 * the dump BESIDE (or NULL) or in the current directory, also among the other processes of its run.
 * From ARENA; NULL if there is none. */
const char *record_find_profile(const struct core_record *r, const char *beside,
                                struct arena *arena);

#endif
