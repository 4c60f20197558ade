/* language_frames.h: adds the frames of the program's own language to stacks. */
#ifndef MIXED_LANGUAGE_FRAMES_H
#define MIXED_LANGUAGE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "account/label.h"
#include "account/thread.h"
#include "base/atomics.h"
#include "heaptap/language.h"
#include "stack/stack.h"
#include "stack/stack_state.h"

struct heaptap_language;

/* --- language_adapters.c: stores the language adapters, and the code ranges of their runtimes.
 * Thread-safe and async-signal-safe; no function blocks. */

enum {
    LANGUAGES = 4,
};

/* Needs of the adapters. Each member is atomic, and becomes 1 when an adapter with this need is
 * added. */
struct language_needs {
    uint32_t look;  // Some adapter examines the C stack before it returns frames.
    uint32_t code;  // Some adapter names compiled code.
    uint32_t place; // Some adapter needs all C frames to place its frames.
    uint32_t ask;   // Some adapter may have frames in stacks without code of a runtime.
    uint32_t whole; // Some adapter may have frames outside the recorded C frames, if the stack is
                    // not whole.
};

extern struct language_needs language_needs;

/* language_count: number of adapters, atomic. language_adapters: the adapters. */
extern uint32_t language_count;
extern const struct heaptap_language *language_adapters[LANGUAGES];

/* Register LANGUAGE, so that the recorder calls it from now on. Return false if there is no
 * room. */
bool language_add(const struct heaptap_language *language);

/* Register [START, END) as code of a runtime. Return false if there is no room. */
bool language_runtime_code(uint64_t start, uint64_t end);

/* Return true if the call before PC is in code of a runtime. */
bool language_is_runtime(uint64_t pc);

/* Like language_is_runtime, but return false for user code of an adapter. */
bool language_is_interpreter(uint64_t pc);

/* Return true if stacks without code of a runtime cannot have frames of a language. */
static inline bool
language_is_bound(void)
{
    return load_relaxed(&language_needs.ask) == 0;
}

/* Return the node of the present stack with the frames of all languages, without labels. TARGET is
 * the latest result of stack_target. Call in an event of T. */
uint32_t language_merge(struct thread *t, const struct stack_target *target);

/* Slow path of language_sites, for a thread with tls.needs_slow_path set. */
uint32_t *language_sites_separate(struct thread *t, struct stack_target *target);

/* Declare that the calling thread's events belong to a move of block OLD from FROM to TO, until
 * language_moved is called. FROM is no longer readable, but a runtime may still have this
 * address. */
static inline void
language_moves(struct ledger_entry old, const void *from, const void *to)
{
    if (likely(tls.needs_slow_path == 0) || from == to)
        return;
    tls.moved_from = (const void *)((uintptr_t)from & ~LEDGER_HOOKED);
    tls.moved_to = (const void *)((uintptr_t)to & ~LEDGER_HOOKED);
    tls.moved_bytes = old.site == 0 || ledger_is_backing(old) ? SIZE_MAX
                      : old.size_bytes > 0                    ? old.size_bytes
                                                              : 1;
}

static inline void
language_moved(void)
{
    if (unlikely(tls.needs_slow_path != 0))
        tls.moved_from = NULL;
}

/* Return the sites that count blocks of TARGET's stack in the calling thread, after the frames of
 * interpreted languages are merged into the stack and the thread's labels are added to it. TARGET
 * is the latest result of stack_target. */
static inline uint32_t *
language_sites(struct thread *t, struct stack_target *target)
{
    return likely(tls.needs_slow_path == 0) ? target->sites : language_sites_separate(t, target);
}

/* Slow path of language_constant_sites. */
uint32_t *language_constant_sites_separate(struct thread *t, struct stack_target *target);

/* Return the sites for blocks of TARGET's C stack, if they are the same while the target exists.
 * Return NULL if the sites also depend on the running functions of a language. Call in an event of
 * T that began in state THREAD_READY or THREAD_MERGES. */
static inline uint32_t *
language_constant_sites(struct thread *t, struct stack_target *target)
{
    return likely(tls.needs_slow_path == 0) ? target->sites
                                            : language_constant_sites_separate(t, target);
}

/* Return the node of the stack that called the intercepted function from CALLER, with the frames of
 * languages, without labels. */
static inline uint32_t
language_node(struct thread *t, struct arch_caller caller)
{
    const struct stack_target *target = stack_target(t, caller);

    return likely(tls.needs_slow_path == 0) ? nodes_of(target->sites) : language_merge(t, target);
}

/* A thread's state for calling language adapters and caching their answers.
 *
 * language_frames.c calls adapters and caches answers, language_natives.c supplies the C frames,
 * and language_path.c builds a path from both. */

enum {
    LANGUAGE_KEPT = 256,       // Number of cached answers with their nodes, a power of two.
    LANGUAGE_KEPT_FRAMES = 61, // Maximum number of innermost frames in a cached answer.
    LANGUAGE_NOTED = 256,      // Number of cached notes, a power of two.
    LANGUAGE_DEEP = 16,        // Number of cached longer answers, a power of two.
    LANGUAGE_RUNS = 16,        // Number of runs, a power of two.
};

/* A cached node and its key: the target and the length of the answer. */
struct language_found {
    uint32_t stamp; // Stamp of the target; 0 = unused.
    uint32_t node;
    uint64_t version; // Version of the memo.
    uint32_t *sites;  // Sites of the target.
    uint32_t count;
};

/* A cached answer with its node. */
struct language_kept {
    struct language_found found;
    uint64_t serial; // Serial number of the latest answer equal to this one; 0 = none.
    struct heaptap_frame frames[LANGUAGE_KEPT_FRAMES];
};

/* A longer cached answer without serial numbers, with all frames that were read. */
struct language_deep {
    struct language_found found;
    struct heaptap_frame frames[LIMIT_DEPTH];
};

/* The answer of a language that reports unchanged outer frames. Frame numbers begin with 1 at the
 * outermost frame; frame number N is at N places before the end of `frames`. */
struct language_said {
    uint64_t serial; // Incremented with each answer that differs from the previous one.
    bool is_whole;   // False if a handler has jumped out of the adapter's call.
    uint32_t count;
    uint64_t since[HEAPTAP_FRAMES_MAX + 1]; // Indexed by frame number: serial number of the answer
                                            // that last changed the frame.
    struct heaptap_frame frames[HEAPTAP_FRAMES_MAX];
    uint64_t memo[]; // Memory for the adapter's own use.
};

/* Notes of the adapters about a C stack. */
struct language_noted {
    uint32_t stamp; // Stamp of the target; 0 = unused.
    uint64_t version;
    uint32_t *sites;
    unsigned long notes[LANGUAGES][HEAPTAP_NOTES];
};

/* Data about a C frame that adapters do not get. */
struct native_facts {
    uint64_t frame; // Frame word of struct disk_node.
    uint32_t flags; // Flags of struct disk_node.
    uint32_t code;  // Id of the compiled function that runs in the frame; 0 = none.
};

/* The merged path from its outermost frame to a C frame, including the language frames inside that
 * C frame. */
struct language_spine {
    uint32_t node;
    uint32_t asked;    // Number of language frames up to here.
    uint32_t frames;   // Number of frames in the path.
    uint32_t left_out; // Number of further frames that the path must omit.
};

/* The nodes of consecutive language frames inside one C frame. Language frames are numbered from
 * the outermost on, as in struct language_said. */
struct language_run {
    uint64_t slot, end; // Bounds of the C frame; slot 0 = unused.
    uint32_t node;      // Node of the path up to the C frame.
    uint32_t left_out;  // Number of language frames that the path omits from there on.
    uint32_t before;    // Number of language frames outside the C frame.
    uint32_t last;      // Number of the innermost language frame with a node.
    uint32_t nodes[HEAPTAP_FRAMES_MAX + 1]; // By number of the language frame.
};

/* A thread's state for languages. As in the memo, C frame numbers begin with 1 at the outermost
 * frame. */
struct language_memo {
    const struct heaptap_frame *asked; // The answer, stored in a struct language_said or in
                                       // `answer`.
    struct heaptap_frame answer[LIMIT_DEPTH + 1];
    struct language_said *said[LANGUAGES];
    const struct language_said *only; // Source of the answer if it has serial numbers, else NULL.
    struct heaptap_frame placed[HEAPTAP_FRAMES_MAX + 1]; // The answer, with addresses filled in.
    uint32_t inside[HEAPTAP_FRAMES_MAX + 1]; // Indexed by placed frame: number of the C frame that
                                             // contains it.
    uint32_t ends[LANGUAGES];         // Indexed by language: end of the language's frames in the
                                      // answer.
    // C frame number N has index LIMIT_DEPTH - N. So outer frames keep their places when inner
    // frames change.
    struct heaptap_native natives[LIMIT_DEPTH];
    struct native_facts facts[LIMIT_DEPTH];
    uint32_t native_count;
    uint32_t natives_same; // Number of outermost C frames that are proved equal to the memo's.
    uint32_t plain;        // Number of outermost C frames that are proved not to be code of a
                           // runtime; at most natives_same.
    uint32_t root;         // Parent node of the outermost C frame.
    // Entries for the memo's frames up to spine_count. Entry 0 is the root.
    struct language_spine spine[LIMIT_DEPTH + 1];
    uint32_t spine_count;
    bool spine_is_cut; // True if the path of the spine omits outer frames.
    // Language frames of the latest path, outermost first; of an answer without serial numbers,
    // only those in the spine. spine_asked has them after placing, spine_raw as the adapter
    // returned them.
    struct heaptap_frame spine_asked[HEAPTAP_FRAMES_MAX + 1];
    struct heaptap_frame spine_raw[HEAPTAP_FRAMES_MAX + 1];
    uint32_t spine_same; // Lower bound of the number of outermost frames that equal those in
                         // `only`.
    struct language_run runs[LANGUAGE_RUNS];
    uint32_t run_same[LANGUAGE_RUNS]; // The same for the frames that have nodes in a run.
    bool kept_touched; // True after the first use of `kept`.
    struct language_kept kept[LANGUAGE_KEPT];
    struct language_kept *latest; // The element of `kept` that was used last.
    struct language_deep deep[LANGUAGE_DEEP];
    struct language_noted noted[LANGUAGE_NOTED];
    struct language_noted uncached; // Notes about a stack without a stamp; never reused.
};

/* Return C frame NUMBER in the form that adapters get. */
static inline struct heaptap_native *
language_native_at(struct language_memo *m, uint32_t number)
{
    return &m->natives[LIMIT_DEPTH - number];
}

/* Return the data about C frame NUMBER that adapters do not get. */
static inline struct native_facts *
language_facts_at(struct language_memo *m, uint32_t number)
{
    return &m->facts[LIMIT_DEPTH - number];
}

/* Return true if COUNT frames of A and B are equal. Compares by words: inputs are short, and each
 * event compares them. */
static inline bool
language_are_same(const struct heaptap_frame *a, const struct heaptap_frame *b, uint32_t count)
{
    const uint64_t *x = (const uint64_t *)(const void *)a, *y = (const uint64_t *)(const void *)b;
    uint64_t different = 0;

    static_assert(sizeof *a == 2 * sizeof *x, "the loop");
    for (uint32_t i = 0; i < count; i++)
        different |= (x[2 * i] ^ y[2 * i]) | (x[2 * i + 1] ^ y[2 * i + 1]);
    return different == 0;
}

/* Return true if COUNT frames of A and B are equal. Optimised for many frames, if most are
 * equal. */
static inline bool
language_are_all_same(const struct heaptap_frame *a, const struct heaptap_frame *b, uint32_t count)
{
    typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias));
    enum { ROW = 8 };
    const pair *x = (const pair *)(const void *)a, *y = (const pair *)(const void *)b;
    uint32_t i = 0;

    static_assert(sizeof *a == sizeof *x, "the loop");
    for (; i + ROW <= count; i += ROW, x += ROW, y += ROW) {
        pair even = (x[0] ^ y[0]) | (x[2] ^ y[2]) | (x[4] ^ y[4]) | (x[6] ^ y[6]);
        pair odd = (x[1] ^ y[1]) | (x[3] ^ y[3]) | (x[5] ^ y[5]) | (x[7] ^ y[7]);

        even |= odd;
        if (unlikely((even[0] | even[1]) != 0))
            return false;
    }
    return language_are_same(a + i, b + i, count - i);
}

/* Return the number of innermost frames to read from an answer: one more than a path has, if there
 * is room. */
static inline uint32_t
language_frames_wanted(void)
{
    return stack_state()->depth_max < LIMIT_DEPTH ? stack_state()->depth_max + 1 : LIMIT_DEPTH;
}

/* --- language_natives.c: prepares the C frames of a stack for language adapters. Call in an event
 * of T. */

/* Drop results in M that depend on changed memo frames. Then store the C frames of TARGET inside
 * the frames that it shares with the memo. Return the number of shared frames. */
uint32_t language_natives_inner(struct thread *t, struct language_memo *m,
                                const struct stack_target *target);

/* Store the memo's frames [FIRST, JOINED] in M. */
void language_natives_outer(const struct thread *t, struct language_memo *m, uint32_t joined,
                            uint32_t first);

/* --- language_runs.c: caches the nodes of language frames that share a C frame. */

/* Return the run of language frames inside C frame NUMBER. NODE is the node of the path up to that
 * C frame, which has BEFORE language frames; the path must omit the next LEFT_OUT. If no run is
 * cached, return an empty one. */
struct language_run *language_run_of(struct language_memo *m, uint32_t number, uint32_t node,
                                     uint32_t left_out, uint32_t before);

/* Return the number of the innermost language frame whose node in R is valid. */
static inline uint32_t
language_run_last(const struct language_memo *m, const struct language_run *r)
{
    uint32_t same = m->run_same[r - m->runs];

    return r->last < same ? r->last : same;
}

/* Declare that R has valid nodes for the language frames up to number LAST of the present
 * answer. */
static inline void
language_run_extend(struct language_memo *m, struct language_run *r, uint32_t last)
{
    r->last = last;
    m->run_same[r - m->runs] = UINT32_MAX;
}

/* Declare that the language frames inside the SAME outermost ones may have changed. */
static inline void
language_runs_change(struct language_memo *m, uint32_t same)
{
    for (uint32_t i = 0; i < LANGUAGE_RUNS; i++)
        m->run_same[i] = m->run_same[i] < same ? m->run_same[i] : same;
}

/* --- language_path.c: builds the path of a C stack with the frames of a language among the C
 * frames. */

/* Return the node for the C frames of TARGET merged with the COUNT frames of M's answer. Call in an
 * event of T. */
uint32_t language_path(struct thread *t, struct language_memo *m, const struct stack_target *target,
                       uint32_t count);

/* Return the same as language_path for a plain stack and an answer without frames. Requires that M
 * has the C frames of TARGET, which shares JOINED frames with the memo. */
uint32_t language_plain_path(struct thread *t, struct language_memo *m,
                             const struct stack_target *target, uint32_t joined);

#endif
