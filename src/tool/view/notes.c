/* notes.c: tools' notes from the time of recording. The file stores complete sentences, because the
 * things that they describe no longer exist when the profile is read. */
#include "view/phrases.h"

#include "view/style.h"

const char *
note_sentence(struct arena *arena, const struct profile_note *n)
{
    const char *more = "";

    if (*n->process == '\0')
        return n->text;
    if (n->processes > 1)
        more = arena_printf(arena, " (and %s more like it)",
                            style_count(arena, (int64_t)n->processes - 1));
    return arena_printf(arena, "%s%s: %s", n->process, more, n->text);
}

const char *
note_kind_name(const struct profile_note *n)
{
    return n->kind == NOTE_UNSEEN   ? "memory-not-through-malloc"
           : n->kind == NOTE_HOOK   ? "hook-never-called"
           : n->kind == NOTE_SNAPSHOT ? "of-one-moment"
           : n->kind == NOTE_MEMORY ? "found-in-memory"
           : n->kind == NOTE_RUNTIME ? "runtime-heap"
                                    : "other";
}
