/* merge_notes.c: merge the notes of tools on the inputs.
 *
 * A build of five hundred files has five hundred compilers, each with the same allocator inside.
 * Therefore similar notes become one. It has the text of the note with the most unseen memory, the
 * name of that process, and the number of processes with such a note. Notes are similar if kind,
 * program and advice are equal. */
#include "merge/merger.h"

#include <string.h>

#include "util/path.h"

enum { NOTES_MAX = 64 };

static int64_t
unseen_bytes(const struct profile_note *n)
{
    return counters_difference((int64_t)n->anonymous_bytes, (int64_t)n->recorded_bytes);
}

/* Return the length of the program's name in PROCESS, "prog (pid 12)". */
static size_t
program_length(const char *process)
{
    const char *pid = strstr(process, " (pid ");

    return pid != NULL ? (size_t)(pid - process) : strlen(process);
}

static bool
is_alike(const struct profile_note *a, const struct profile_note *b)
{
    size_t length = program_length(a->process);

    return a->kind == b->kind && strcmp(a->advice, b->advice) == 0 &&
           program_length(b->process) == length && memcmp(a->process, b->process, length) == 0;
}

static const char *
merge_notes_keep(struct merge *m, const char *text)
{
    return strtab_get(&m->p->strings, strtab_id(&m->p->strings, text));
}

static void
merge_notes_add(struct merge *m, const struct profile_note *n)
{
    struct profile *p = m->p;
    struct profile_note sum = *n;
    size_t i = 0;

    while (i < p->run_note_count && !is_alike(&p->run_notes[i], n))
        i++;
    if (i == NOTES_MAX)
        return;
    if (i == p->run_note_count) {
        arena_grow(&p->arena, &p->run_notes, &m->note_capacity, i, sizeof *p->run_notes);
        p->run_note_count++;
        sum.processes = 0;
    } else if (unseen_bytes(n) <= unseen_bytes(&p->run_notes[i])) {
        p->run_notes[i].processes += n->processes;
        return;
    } else {
        sum.processes = p->run_notes[i].processes;
    }
    sum.processes += n->processes;
    sum.text = merge_notes_keep(m, n->text);
    sum.advice = merge_notes_keep(m, n->advice);
    sum.process = merge_notes_keep(m, n->process);
    p->run_notes[i] = sum;
}

void
merge_notes(struct merge *m, const struct profile *from)
{
    struct arena a = {0};

    for (size_t i = 0; i < from->run_note_count; i++) {
        struct profile_note n = from->run_notes[i];

        if (from->merged_processes == 0) {
            n.processes = 1;
            n.process = arena_printf(&a, "%s (pid %u)", path_basename(from->process.executable),
                                     from->process.pid);
        }
        merge_notes_add(m, &n);
    }
    arena_release(&a);
}
