/* growth.c: a heap that grows without events.
 *
 * A program with an allocator of its own inside is recorded as if it had no heap, and nothing in
 * its profile tells. So `run` looks at the anonymous memory of its processes now and then, from
 * outside: what the kernel counts as RssAnon has neither mapped files nor shared memory in it, and
 * is the heap, whoever manages it, with writable data and the stacks of threads. At the end the
 * largest value seen is compared with what the recorder knew of: the peak of live bytes, a header
 * for each block, and its own memory.
 *
 * Allocators keep freed memory and round sizes up, so that nothing is said before the difference is
 * large, absolutely and in proportion. A process made by fork alone has its parent's memory, which
 * its own profile does not tell about, and is passed over. What lives for some milliseconds may end
 * unseen: that is not a heap that grows.
 */
#include "launch/growth.h"

#include <string.h>

#include "launch/own_malloc.h"
#include "launch/proc.h"
#include "launch/program.h"
#include "view/style.h"

enum { PROCESSES_MAX = 256, MODULES_MAX = 256, DEPTH_MAX = 16, NOTES_MAX = 64 };

/* Less is not worth a word, and may be stacks and buffers of libc. */
#define ENOUGH_BYTES ((int64_t)16 << 20)

/* What an allocator may need for a block beyond the bytes asked for. */
enum { BLOCK_OVERHEAD_BYTES = 32 };

struct grown {
    pid_t pid;
    pid_t parent;
    int64_t anonymous_bytes; // The largest seen.
    int64_t listed_bytes;    // When its modules were last listed.
    const char *executable;  // NULL = not known.
    const char **modules;    // Files whose code it has mapped.
    size_t module_count;
    int64_t recorded_bytes; // By its profiles.
    bool recorded;          // There is one.
    bool incomplete;        // One that is not meant to tell all, or of a process made by fork.
};

static struct grown *
find(const struct growth *g, pid_t pid)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->processes[i].pid == pid)
            return &g->processes[i];
    return NULL;
}

static struct grown *
find_or_add(struct growth *g, pid_t pid, pid_t parent)
{
    struct grown *known = find(g, pid);

    if (known != NULL || g->count == PROCESSES_MAX)
        return known;
    arena_grow(&g->arena, &g->processes, &g->capacity, g->count, sizeof *g->processes);
    known = &g->processes[g->count++];
    *known = (struct grown){.pid = pid, .parent = parent};
    return known;
}

/* Note what a process runs and which files its code comes from, which can be seen only while it
 * lives. */
static void
list_modules(struct growth *g, struct grown *known)
{
    struct grown *parent = find(g, known->parent);

    known->executable = proc_executable(known->pid, &g->arena);
    if (parent != NULL && parent->executable == NULL)
        parent->executable = proc_executable(parent->pid, &g->arena);
    if (known->modules == NULL)
        known->modules = arena_array(&g->arena, MODULES_MAX, sizeof *known->modules);
    known->module_count = proc_add_code_files(known->pid, &g->arena, known->modules,
                                              known->module_count, MODULES_MAX);
}

static void
// NOLINTNEXTLINE(misc-no-recursion): as deep as processes start processes, DEPTH_MAX at most.
look_at(struct growth *g, pid_t pid, pid_t parent, int depth)
{
    struct grown *known = find_or_add(g, pid, parent);
    int64_t bytes = known != NULL ? proc_anonymous_bytes(pid) : 0;
    pid_t children[PROC_CHILDREN_MAX];
    size_t count;

    if (known != NULL && bytes > known->anonymous_bytes)
        known->anonymous_bytes = bytes;
    if (known != NULL && bytes >= ENOUGH_BYTES && bytes / 2 >= known->listed_bytes) {
        known->listed_bytes = bytes;
        list_modules(g, known);
    }
    count = depth < DEPTH_MAX ? proc_children(pid, children) : 0;
    for (size_t i = 0; i < count; i++)
        look_at(g, children[i], pid, depth + 1);
}

void
growth_look(struct growth *g, pid_t pid)
{
    look_at(g, pid, 0, 0);
}

void
growth_recorded(struct growth *g, const struct profile *p)
{
    struct grown *known = find(g, (pid_t)p->process.pid);

    if (known == NULL)
        return;
    known->recorded = true;
    // The profile is a file that others may have written to.
    known->recorded_bytes =
        (int64_t)((uint64_t)known->recorded_bytes + (uint64_t)p->totals.peak_bytes +
                  (uint64_t)p->totals.peak_blocks * BLOCK_OVERHEAD_BYTES +
                  p->recorder.memory_bytes);
    known->incomplete |= p->process.forked || p->losses.file_failed;
    for (size_t i = 0; i < p->way_count; i++)
        known->incomplete |= p->ways[i].mode == MODE_OFF;
}

/* Has it only been forked? Then what it has may be its parent's. */
static bool
is_copy(const struct growth *g, const struct grown *known)
{
    const struct grown *parent = find(g, known->parent);

    return !known->recorded && known->executable != NULL && parent != NULL &&
           (parent->executable == NULL || strcmp(parent->executable, known->executable) == 0);
}

static bool
is_strange_in(const struct growth *g, const struct grown *known)
{
    int64_t more_bytes = counters_difference(known->anonymous_bytes, known->recorded_bytes);

    return known->executable != NULL && !known->incomplete && more_bytes >= ENOUGH_BYTES &&
           more_bytes > known->recorded_bytes && !is_copy(g, known);
}

/* What to do about KNOWN if no allocator is known in it. */
static const char *
advice_of(const struct grown *known, struct arena *arena)
{
    return arena_printf(
        arena,
        "%sno allocator known by name is in it. If it maps memory itself (mmap), see heaptap.h; if "
        "it has functions like malloc in a shared library, record them with --hook SYMBOL=KIND",
        known->recorded ? ""
                        : "it left no profile. If the recorder has said above that it is not "
                          "recording, that is why; if not: ");
}

static struct run_note
note_of(const struct grown *known, const struct hook_list *hooks, struct arena *arena)
{
    int64_t had = known->anonymous_bytes, recorded = known->recorded_bytes;
    const char *advice = own_malloc_advice(known->executable, known->modules, known->module_count,
                                           hooks, arena);
    // Without a profile, and another reason for that, it may have come through malloc.
    bool unclear = !known->recorded &&
                   (advice == NULL || program_cannot_be_recorded(known->executable) != NULL);

    return (struct run_note){
        .pid = known->pid,
        .executable = arena_strdup(arena, known->executable),
        .note = {.kind = NOTE_UNSEEN,
                 .text = arena_printf(arena,
                                      "about %s of the memory of %s %s: it had %s, of which the "
                                      "recorder knows %s",
                                      style_bytes(arena, counters_difference(had, recorded)),
                                      known->executable,
                                      unclear ? "was not recorded" : "did not come through malloc",
                                      style_bytes(arena, had), style_bytes(arena, recorded)),
                 .advice = advice != NULL ? advice : advice_of(known, arena),
                 .process = "",
                 .anonymous_bytes = (uint64_t)had,
                 .recorded_bytes = (uint64_t)recorded},
    };
}

bool
growth_is_strange(const struct growth *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (is_strange_in(g, &g->processes[i]))
            return true;
    return false;
}

void
growth_note(const struct growth *g, const struct hook_list *hooks, struct run_notes *ret)
{
    for (size_t i = 0; i < g->count && ret->count < NOTES_MAX; i++)
        if (is_strange_in(g, &g->processes[i])) {
            struct run_note note = note_of(&g->processes[i], hooks, &ret->arena);

            run_notes_add(ret, &note);
        }
}

void
growth_release(struct growth *g)
{
    arena_release(&g->arena);
}
