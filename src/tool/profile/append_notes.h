/* append_notes.h: append notes to the file of a process that has ended. */
#ifndef PROFILE_APPEND_NOTES_H
#define PROFILE_APPEND_NOTES_H

#include "profile/profile.h"

/* Append the COUNT NOTES to the profile file PATH, packed or not, whose process must have ended.
 * Returns 0, or HEAPTAP_BAD_INPUT with ERR set and the contents unchanged. */
int append_notes(const char *path, const struct profile_note *notes, size_t count,
                 struct err *err);

#endif
