/* run_notes.c: notes on a run, made from outside. This file prints nothing: the run's summary
 * groups notes of similar processes, and each profile stores its own. */
#include "launch/run_notes.h"

#include <string.h>

void
run_notes_add(struct run_notes *notes, const struct run_note *note)
{
    arena_grow(&notes->arena, &notes->v, &notes->capacity, notes->count, sizeof *notes->v);
    notes->v[notes->count++] = *note;
}

bool
run_notes_alike(const struct run_note *a, const struct run_note *b)
{
    return a->note.kind == b->note.kind && a->note.kind != NOTE_HOOK &&
           strcmp(a->executable, b->executable) == 0 &&
           strcmp(a->note.advice, b->note.advice) == 0;
}

void
run_notes_release(struct run_notes *notes)
{
    arena_release(&notes->arena);
    *notes = (struct run_notes){0};
}
