/* append_notes.h: notes into the file of a process that has ended. */
#ifndef PROFILE_APPEND_NOTES_H
#define PROFILE_APPEND_NOTES_H

#include "profile/profile.h"

/* Append the COUNT NOTES to the profile file PATH, packed or as it was recorded, which nobody
 * writes any more. Returns 0, or HEAPTAP_BAD_INPUT with ERR set; then the file reads as it did. */
int append_notes(const char *path, const struct profile_note *notes, size_t count,
                 struct err *err);

#endif
