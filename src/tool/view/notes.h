/* notes.h: notes of tools from the time of recording, in words. */
#ifndef VIEW_NOTES_H
#define VIEW_NOTES_H

#include "profile/profile.h"

/* The sentence of N, with its process if it is from a merged profile. From ARENA or N's. */
const char *note_sentence(struct arena *arena, const struct profile_note *n);

/* The name of N's kind in JSON: "memory-not-through-malloc", "hook-never-called"; "other" for one
 * that only a later version knows. */
const char *note_kind_name(const struct profile_note *n);

#endif
