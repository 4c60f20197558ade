/* notes.h: tools' notes from the time of recording, in words. */
#ifndef VIEW_NOTES_H
#define VIEW_NOTES_H

#include "profile/profile.h"

/* Return the sentence of N; for a note from a merged profile, with its process. From ARENA, or N's
 * text. */
const char *note_sentence(struct arena *arena, const struct profile_note *n);

/* Return the name of N's kind in JSON: "memory-not-through-malloc", "hook-never-called"; "other"
 * for a kind of a later version. */
const char *note_kind_name(const struct profile_note *n);

#endif
