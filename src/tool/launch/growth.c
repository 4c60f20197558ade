/* growth.c: detect a heap that grows without events.
 *
 * A program with its own allocator records hardly any event, and its profile does not show why. So
 * `run` samples the anonymous memory of its processes from outside. The kernel's RssAnon excludes
 * mapped files and shared memory. It includes the heap of any allocator, writable data and thread
 * stacks. After the run, the maximum is compared with the recorder's figures: peak of live bytes, a
 * header per block, and the recorder's memory.
 *
 * Allocators retain freed memory and round sizes up, so only a difference that is large both
 * absolutely and in proportion is reported. A forked process that never calls exec shares its
 * parent's memory, which its profile does not cover, and is skipped. A process that lives for a few
 * milliseconds may go unseen; its heap cannot grow much.
 *
 * If the program is a runtime that manages its objects itself, blocks are not these objects,
 * however little memory there is. So such a process gets a note in any case, unless its environment
 * or its command makes the runtime use malloc. */
#include "launch/growth.h"

#include <string.h>

#include "launch/hooks.h"
#include "launch/launch.h"
#include "launch/proc.h"
#include "symbol/runtime_heap.h"
#include "view/style.h"

enum { PROCESSES_MAX = 256, MODULES_MAX = 256, DEPTH_MAX = 16, NOTES_MAX = 64 };

/* Minimum difference to report; a smaller one may be stacks and buffers of libc. */
#define ENOUGH_BYTES ((int64_t)16 << 20)

/* Upper bound of the bytes that an allocator adds to each block. */
enum { BLOCK_OVERHEAD_BYTES = 32 };

struct grown {
    pid_t pid;
    pid_t parent;
    int64_t anonymous_bytes; // Largest value seen.
    uint64_t seen_unix_ns;   // Time of this value.
    int64_t listed_bytes;    // Value when its modules were last listed.
    const char *executable;  // NULL = unknown.
    const char **modules;    // Files with mapped code.
    size_t module_count;
    const char *preloaded; // Its LD_PRELOAD; NULL = unknown.
    // Recorded bytes, summed over the process's profiles, with the recorder's own memory.
    int64_t recorded_bytes;
    int64_t recorder_bytes; // The recorder's own memory.
    bool recorded;          // The process has a profile.
    bool incomplete;        // A profile is partial by design, lacks events, or is of a fork.
    uint32_t variables;     // Union of all results of runtime_heap_variables.
    // The runtime that its latest program is, if it uses no malloc for objects; NULL = none. Start
    // of that program.
    const struct runtime_heap *runtime;
    bool uses_malloc; // The program is a runtime that uses malloc here.
    uint64_t start_unix_ns;
    uint64_t first_unix_ns; // Start of its first program that was recorded.
};

/* A program and the runtime that it is; NULL = none. */
struct growth_program {
    const char *executable;
    const struct runtime_heap *runtime;
};

static struct grown *
growth_find(const struct growth *g, pid_t pid)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->processes[i].pid == pid)
            return &g->processes[i];
    return NULL;
}

static struct grown *
find_or_add(struct growth *g, pid_t pid, pid_t parent)
{
    struct grown *known = growth_find(g, pid);

    if (known != NULL || g->count == PROCESSES_MAX)
        return known;
    arena_grow(&g->arena, &g->processes, &g->capacity, g->count, sizeof *g->processes);
    known = &g->processes[g->count++];
    *known = (struct grown){.pid = pid, .parent = parent};
    return known;
}

/* Store the executable and the files mapped for execution, which /proc shows only while the process
 * lives. */
static void
list_modules(struct growth *g, struct grown *known)
{
    struct grown *parent = growth_find(g, known->parent);

    known->executable = proc_executable(known->pid, &g->arena);
    known->preloaded = proc_variable(known->pid, "LD_PRELOAD", &g->arena);
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

    if (known != NULL && bytes > known->anonymous_bytes) {
        known->anonymous_bytes = bytes;
        known->seen_unix_ns = g->poll_unix_ns;
    }
    if (known != NULL) // An ending process has no environment any more.
        known->variables |= runtime_heap_variables((uint32_t)pid);
    if (known != NULL && bytes >= ENOUGH_BYTES && bytes / 2 >= known->listed_bytes) {
        known->listed_bytes = bytes;
        list_modules(g, known);
    }
    count = depth < DEPTH_MAX ? proc_children(pid, children) : 0;
    for (size_t i = 0; i < count; i++)
        look_at(g, children[i], pid, depth + 1);
}

void
growth_poll(struct growth *g, pid_t pid, uint64_t unix_ns)
{
    g->poll_unix_ns = unix_ns;
    look_at(g, pid, 0, 0);
}

/* Return the runtime that the program EXECUTABLE is; NULL = none. A build runs few programs many
 * times, so results are kept. */
static const struct runtime_heap *
runtime_of(struct growth *g, const char *executable)
{
    for (size_t i = 0; i < g->program_count; i++)
        if (strcmp(g->programs[i].executable, executable) == 0)
            return g->programs[i].runtime;
    arena_grow(&g->arena, &g->programs, &g->program_capacity, g->program_count,
               sizeof *g->programs);
    g->programs[g->program_count] = (struct growth_program){
        arena_strdup(&g->arena, executable), runtime_heap_of_program(executable)};
    return g->programs[g->program_count++].runtime;
}

/* Store the runtime of P in KNOWN, unless P is older than the program that KNOWN has run last. */
static void
note_runtime(struct growth *g, struct grown *known, const struct profile *p)
{
    const struct runtime_heap *r = runtime_of(g, p->process.executable);

    if (p->process.start_unix_ns < known->start_unix_ns)
        return;
    known->start_unix_ns = p->process.start_unix_ns;
    known->uses_malloc =
        r != NULL && runtime_heap_uses_malloc(r, p->process.command, known->variables);
    known->runtime = known->uses_malloc ? NULL : r;
    if (known->executable == NULL)
        known->executable = arena_strdup(&g->arena, p->process.executable);
}

void
growth_recorded(struct growth *g, const struct profile *p)
{
    struct grown *known = growth_find(g, (pid_t)p->process.pid);

    if (known == NULL) {
        known = find_or_add(g, (pid_t)p->process.pid, 0);
        if (known == NULL)
            return;
        known->variables = runtime_heap_variables(0);
    }
    note_runtime(g, known, p);
    if (!known->recorded || p->process.start_unix_ns < known->first_unix_ns)
        known->first_unix_ns = p->process.start_unix_ns;
    known->recorded = true;
    // Other users may have written to the file, so the sum must not overflow as a signed number.
    known->recorded_bytes =
        (int64_t)((uint64_t)known->recorded_bytes + (uint64_t)p->totals.peak_bytes +
                  (uint64_t)p->totals.peak_blocks * BLOCK_OVERHEAD_BYTES +
                  p->recorder.memory_bytes);
    known->recorder_bytes =
        (int64_t)((uint64_t)known->recorder_bytes + p->recorder.memory_bytes);
    known->incomplete |= p->process.forked || p->losses.file_failed || p->may_lag;
    for (size_t i = 0; i < p->mode_count; i++)
        known->incomplete |= p->modes[i].mode == MODE_OFF;
}

/* Return true if KNOWN's largest value is of a forked process that had not called exec: its memory
 * may be its parent's. The programs that it ran later were all recorded. */
static bool
growth_is_copy(const struct growth *g, const struct grown *known)
{
    const struct grown *parent = growth_find(g, known->parent);

    return (!known->recorded || known->first_unix_ns > known->seen_unix_ns) &&
           known->executable != NULL && parent != NULL &&
           (parent->executable == NULL || strcmp(parent->executable, known->executable) == 0);
}

static bool
is_strange_in(const struct growth *g, const struct grown *known)
{
    int64_t more_bytes = counters_difference(known->anonymous_bytes, known->recorded_bytes);

    return known->executable != NULL && !known->incomplete && more_bytes >= ENOUGH_BYTES &&
           more_bytes > known->recorded_bytes && !growth_is_copy(g, known);
}

/* Return the remedy for KNOWN if no allocator was found in it. */
static const char *
advice_of(const struct grown *known, struct arena *arena)
{
    return arena_printf(
        arena,
        "%sno allocator known by name is in it. If it maps memory itself (mmap), see heaptap.h; if "
        "it has functions like malloc in a shared library, record them with --hook SYMBOL=KIND",
        known->recorded ? ""
                        : "it left no profile. If a message above says \"not recording\", that is "
                          "the reason. Otherwise: ");
}

/* Return the parts of KNOWN's memory that are accounted for, as the end of a sentence. The
 * recorder's own memory is separate, because no report of blocks contains it. */
static const char *
accounted_text(const struct grown *known, struct arena *arena)
{
    if (!known->recorded)
        return "";
    return arena_printf(
        arena, ": it had %s, %s in recorded blocks and %s of the recorder itself",
        style_bytes(arena, known->anonymous_bytes),
        style_bytes(arena, counters_difference(known->recorded_bytes, known->recorder_bytes)),
        style_bytes(arena, known->recorder_bytes));
}

static struct run_note
note_of(const struct grown *known, const struct hook_list *hooks, struct arena *arena)
{
    int64_t had = known->anonymous_bytes, recorded = known->recorded_bytes;
    const struct allocator_search search = {
        .executable = known->executable,
        .modules = known->modules,
        .module_count = known->module_count,
        .preloaded = known->preloaded,
        .hooks = hooks,
        .without_runtime = known->uses_malloc,
    };
    const char *advice = own_malloc_advice(&search, arena);
    // Without a profile, the memory may come from malloc, unless an allocator was found and the
    // program can be recorded.
    bool unclear = !known->recorded &&
                   (advice == NULL || program_cannot_be_recorded(known->executable) != NULL);

    return (struct run_note){
        .pid = known->pid,
        .executable = arena_strdup(arena, known->executable),
        .note = {.kind = NOTE_UNSEEN,
                 .text = arena_printf(arena,
                                      "about %s of the memory of %s %s%s",
                                      style_bytes(arena, counters_difference(had, recorded)),
                                      known->executable,
                                      unclear ? "was not recorded" : "did not come through malloc",
                                      accounted_text(known, arena)),
                 .advice = advice != NULL ? advice : advice_of(known, arena),
                 .process = "",
                 .anonymous_bytes = (uint64_t)had,
                 .recorded_bytes = (uint64_t)recorded},
    };
}

/* Return the note on a process whose program is a runtime. */
static struct run_note
runtime_note_of(const struct grown *known, struct arena *arena)
{
    return (struct run_note){
        .pid = known->pid,
        .executable = arena_strdup(arena, known->executable),
        .note = {.kind = NOTE_RUNTIME,
                 .text = known->runtime->fact,
                 .advice = known->runtime->remedy != NULL ? known->runtime->remedy : "",
                 .process = ""},
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
    for (size_t i = 0; i < g->count && ret->count < NOTES_MAX; i++)
        if (g->processes[i].runtime != NULL && !is_strange_in(g, &g->processes[i])) {
            struct run_note note = runtime_note_of(&g->processes[i], &ret->arena);

            run_notes_add(ret, &note);
        }
}

void
growth_release(struct growth *g)
{
    arena_release(&g->arena);
}
