/* thread.h: what one thread keeps between events. */
#ifndef ACCOUNT_THREAD_H
#define ACCOUNT_THREAD_H

#include "account/ledger_entry.h"
#include "base/atomics.h"
#include "platform/state.h"

/* A frame of a stack, being walked or remembered. */
struct stack_frame {
    uint64_t slot;  // Address of the word with the return address.
    uint64_t frame; // Return address and module, as in struct disk_node.
    uint64_t rbp;   // The register's value in this frame.
    // The word it was restored from on the way here; 0 = unchanged from the inner frame.
    uint64_t rbp_slot;
    // The word that holds the CFA of a function that realigned its stack; 0 = the rule computes it.
    uint64_t cfa_slot;
    uint32_t node; // In the call tree, or an id of outside.c; remembered frames only.
    // Checks [0, check_start) belong to the frames outside this one; remembered only.
    uint32_t check_start;
    uint8_t uses_rbp;  // Stepping out of this frame needs rbp.
    uint8_t needs_rbp; // This frame or one outside it needs this rbp; remembered only.
    uint8_t flags;     // enum disk_node_flags.
};

/* A word of the stack that must still hold VALUE for the remembered frames to be the present
 * ones. */
struct stack_check {
    uint64_t address, value;
};

enum {
    // Checks are made in groups of so many. In front of a memo's are enough that always hold for
    // its outermost group to be whole.
    CHECK_GROUP = 4,
    CHECKS_HELD = CHECK_GROUP - 1,
    CHECKS_MAX = CHECKS_HELD + 3 * LIMIT_DEPTH,
    INNER_BLOCKS = 8,
    PASSINGS = 1024,
    PASSING_CHECKS = 3 * CHECK_GROUP,
    FORESEEN = 8192,
    RULE_CACHE_ENTRIES = 4096,
    RECENT_BLOCKS = 256,
};

/* Where the blocks of one stack are counted. */
struct stack_target {
    uint32_t *sites; // Of its node in the call tree.
    uint32_t frames; // Of the stack.
    // By size class, as far as known: this thread's counters, or one that no block fits; their
    // site.
    uint32_t site[DISK_SIZE_CLASSES];
    // Another one whenever a stack was walked, so that equal ones mean the same C frames at the
    // same addresses, as long as the memo is the same too. 0 = this one cannot be told again.
    uint32_t stamp;
    struct disk_counter *counter[DISK_SIZE_CLASSES];
};
static_assert(sizeof(struct stack_target) == 64, "one cache line");

/* An earlier stack that went on from a remembered frame, but was not remembered itself: a cache
 * line for what it is, one for its target, and one for each group of checks. */
struct stack_passing {
    uint64_t slot; // Of the innermost frame; 0 = unused.
    uint64_t rbp;  // The caller's; matters if needs_rbp.
    uint64_t join_slot, join_rbp;
    uint64_t version; // The memo's when the remembered frame was last found to be the same.
    uint32_t join_node;    // As it was remembered.
    uint32_t outer_checks; // How many the frames outside the remembered one have.
    uint16_t join;         // Index of the remembered frame.
    uint8_t needs_rbp;
    uint8_t check_count; // Whole groups.
    // Of one whose frames have no nodes: what its outermost hangs on if `join` is 0, and which of
    // its checks are return addresses of frames inside of the remembered one.
    uint8_t root;
    uint16_t slots;
    struct stack_target target __attribute__((aligned(64)));
    // Of the remembered frame itself and all inside it, and the first once more to fill the group.
    struct stack_check checks[PASSING_CHECKS];
};
static_assert(sizeof(struct stack_passing) == (2 + PASSING_CHECKS / CHECK_GROUP) * 64, "lines");

/* A block that a function of the next allocator has asked for and that is not counted yet: nest.c.
 * */
struct inner_block {
    void *p;
    uint64_t size_bytes;
    uint32_t *sites; // Of its stack.
    bool odd;        // The allocator behind us cannot tell its size.
};

/* How to step out of a frame, in a thread's cache: 16 bytes. kind RULE_NONE = empty. A rule of kind
 * RULE_RSP is one that leads further out by whole words and has the caller's rbp, if it was saved,
 * between the two; what the tables say besides is RULE_FULL. */
struct rule_entry {
    uint64_t frame; // The address with its module, as in struct disk_node.
    struct unwind_rule rule;
};

enum thread_ready {
    THREAD_NOT = 0, // Not joined, or wiped in a forked child.
    THREAD_READY = 1,
    THREAD_STALE = 2,    // Joined, and must look up what has changed before its next event.
    THREAD_APART = 3,    // As READY, but tls.apart: what it allocates goes the general way.
};

/* Private memory, one per row of the thread table, passed on from an ended thread to a new one.
 * Only the owner touches it, except `owner_tid`, `ready` and what peak.c says. Wiped in a forked
 * child, so that ready is 0 there. */
struct thread {
    /* What every event touches. */
    uint32_t ready;     // enum thread_ready.
    uint32_t countdown; // Events until the next tick.
    // By how much all its events have changed live bytes. While that lies in
    // [live_low, live_low + live_span] nobody else needs to know. Others read the first.
    int64_t live_bytes, live_low;
    uint64_t live_span;
    uint8_t births; // Number of its next block, modulo RECENT_BLOCKS.
    bool at_peak;   // See peak.h.
    bool leaf_needs_rbp;
    struct disk_bins *bins;
    struct disk_block **blocks; // By site / DISK_BLOCK_SITES.
    struct disk_shared *shared; // Of the header.
    uint32_t **ledger;          // state->ledger.
    uint64_t plain_units;       // ledger_plain_units.
    // The innermost remembered frame, if it is that of the latest stack; slot 0 = there is none.
    uint64_t leaf_slot, leaf_rbp;
    struct stack_target leaf;
    uint32_t memo_count;
    uint32_t check_count;  // Those in front included.
    uint64_t memo_version; // Rises whenever the memo has changed.
    uint32_t history;      // Hash of the latest of `passings`.
    uint32_t row;
    uint64_t frames_reused; // In the file as of the latest tick.
    struct disk_thread *disk;
    uint64_t recent[RECENT_BLOCKS]; // Its latest blocks, by number: recent.h. 0 = none, or ended.
    // As long as T is the only thread: the maximum of live bytes, which others read when they
    // come, and what live bytes are without live_bytes.
    int64_t peak_seen, live_besides;
    // When at_peak began: the maximum before, and its epoch.
    int64_t raised_from;
    uint64_t raised_after;
    uint64_t epoch_before, epoch_raised;
    int64_t ticked_bytes; // live_bytes at the latest tick.

    uint32_t generation; // state->generation when the caches below were last emptied.
    uint64_t stack_low,
        stack_high; // The thread's own stack as far as known; frames lie in [low, high).
    uint64_t thread_pointer;
    bool stack_sought; // The mapping of the thread pointer was looked up.

    struct ledger_ahead ahead;
    uint32_t owner_tid; // Atomic; 0 = the row is free. See owner_word in join.c.
    // Atomic: what of live_bytes the others know, and how much more it may be (peak.c).
    int64_t told_bytes, spare_bytes;
    // For events of signal handlers that interrupt the recorder at work with this struct; NULL
    // until there is one.
    struct thread *nested;
    struct thread *outer;        // Its `nested` is this one; NULL if none is.
    uint32_t level;              // How many structs this one is nested in.
    uint32_t inner_count;        // Of `inner`, oldest first.
    struct inner_block inner[INNER_BLOCKS];
    uint64_t outer_entered;      // tls.entered of the event of `outer` that was interrupted last.
    struct stack_target strange; // Of the latest stack that could not be remembered.
    uint32_t stamps;             // Of struct stack_target; the latest.
    bool memo_is_cut;            // It has not the outermost frames of its stack.
    bool merges;                 // Its stacks get frames of languages: C frames have no nodes.
    uint32_t memo_root;          // The node that the outermost remembered frame hangs on.
    uint32_t walked_root;        // The same of what walk_full has walked,
    uint32_t walked_count;       // and how many frames that are.
    uint32_t outside_ids;        // outside.c: the next id.
    struct outside *outside;     // NULL until it was needed.
    uint32_t memo_same;          // So many frames of the memo, from 1 on, language_natives.c knows.
    struct language_memo *language; // language_memo.h; NULL until it was needed.
    struct heap_memo *heaps;        // event/heap.c; NULL until it was needed.
    // Which of `passings` came: by history and innermost frame, and by innermost frame alone.
    uint16_t foreseen[FORESEEN], latest[FORESEEN];
    // Which of `passings` a stack has, by hash of its innermost frames: one of two places that
    // differ in the lowest bit; 0 = none yet. They are taken in order, so that those of a short
    // process are in a few pages.
    uint16_t passing_at[PASSINGS];
    uint32_t passing_count;
    // From 1 on; the one at 0 is never used.
    struct stack_passing passings[PASSINGS + 1] __attribute__((aligned(64)));
    struct stack_check checks[CHECKS_MAX];
    // Outermost first, from 1 on; the one at 0 is further out than any.
    struct stack_frame memo[LIMIT_DEPTH + 1];
    struct stack_frame walked[LIMIT_DEPTH]; // Innermost first; scratch.
    struct rule_entry rules[RULE_CACHE_ENTRIES];
    char text[4096]; // Scratch for what the kernel says: /proc/self/maps, which pages are there.
    uint32_t tick_events;      // Events between the latest two ticks, as planned: tick.c.
    uint64_t ticked_ns;        // Elapsed time at the latest tick.
    uint32_t timed_phase;      // Ticks since the last one whose event was timed, of TIMED_TICKS.
    uint64_t work_ns;          // Processor time at the tick before; 0 = not looked at.
    uint64_t work_cycles;      // The cycle counter then.
};

/* Is T, which may be NULL, joined, and not a parent's? */
static inline bool
thread_is_ready(const struct thread *t)
{
    return likely(t != NULL) && likely(load_relaxed(&t->ready) != THREAD_NOT);
}

/* Something has changed that every thread must look at before its next event: code was unloaded, or
 * what it may keep back of the peak. */
void thread_tell_all(void);

/* The same for T alone. */
void thread_tell(struct thread *t);

/* How many rows there are; those at the end of state->threads may still be NULL. */
uint32_t thread_row_count(void);

/* The counters of T at SITE, or NULL without memory. */
struct disk_counter *thread_counter_make(struct thread *t, uint32_t site);

static inline struct disk_counter *
thread_counter(struct thread *t, uint32_t site)
{
    struct disk_block *b = t->blocks[site / DISK_BLOCK_SITES];

    return likely(b != NULL) ? &b->counters[site % DISK_BLOCK_SITES] : thread_counter_make(t, site);
}

/* Take the calling thread's present name into its row. */
void thread_refresh_name(struct thread *t);

/* NAME has 16 bytes, as the kernel gives it. Other threads may be reading or writing the same. */
void thread_set_name(struct disk_thread *d, const char *name);
bool thread_has_name(const struct disk_thread *d, const char *name);

#endif
