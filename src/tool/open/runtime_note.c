/* runtime_note.c: add the note on a runtime's own heap to profiles that have none.
 *
 * `heaptap run` adds it when the program has ended. A profile that was recorded by the environment
 * alone has no such note, and neither has one that is still being written. The program's name, and
 * its file if there is one, show the runtime. The environment of a process that has ended is not
 * known; then the note names the variable that would make it wrong. */
#include "open/open_set.h"

#include "symbol/runtime_heap.h"

/* Return true if P has a note that names the runtime already. */
static bool
has_note(const struct profile *p)
{
    for (size_t i = 0; i < p->run_note_count; i++)
        if (p->run_notes[i].kind == NOTE_RUNTIME || p->run_notes[i].kind == NOTE_UNSEEN)
            return true;
    return false;
}

void
runtime_note_add(struct profile *p)
{
    const struct profile_process *process = &p->process;
    uint32_t pid = process->pid_here != 0 ? process->pid_here : process->pid;
    const struct runtime_heap *r;
    struct profile_note *notes;
    const char *fact;

    if (p->merged_processes > 0 || !profile_was_recorded(p) || has_note(p) ||
        (process->in_run && process->ended))
        return;
    r = runtime_heap_of_program(process->executable);
    if (r == NULL || runtime_heap_uses_malloc(r, process->command,
                                              process->ended ? 0 : runtime_heap_variables(pid)))
        return;
    fact = process->ended && r->variable != NULL
               ? arena_printf(&p->arena, "%s, unless it was started with %s", r->fact, r->variable)
               : r->fact;
    notes = arena_array(&p->arena, p->run_note_count + 1, sizeof *notes);
    for (size_t i = 0; i < p->run_note_count; i++)
        notes[i] = p->run_notes[i];
    notes[p->run_note_count++] = (struct profile_note){
        .kind = NOTE_RUNTIME,
        .text = fact,
        .advice = r->remedy != NULL ? r->remedy : "",
        .process = "",
    };
    p->run_notes = notes;
}
