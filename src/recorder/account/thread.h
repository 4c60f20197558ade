/* thread.h: defines the state of one thread between events, and accesses other threads' states. */
#ifndef ACCOUNT_THREAD_H
#define ACCOUNT_THREAD_H

#include "account/account_state.h"
#include "base/atomics.h"
#include "ledger/ledger_entry.h"
#include "ledger/ledger_state.h"
#include "platform/state.h"

/* A frame of a stack, during a walk or in the memo. */
struct stack_frame {
    uint64_t slot;  // Address of the word with the return address.
    uint64_t frame; // Return address and module, as in struct disk_node.
    uint64_t rbp;   // Value of rbp in this frame.
    // Address of the word that rbp was restored from; 0 = rbp is the same as in the inner frame.
    uint64_t rbp_slot;
    // Address of the word that contains the CFA, for a function that realigned its stack; 0 = the
    // rule computes the CFA.
    uint64_t cfa_slot;
    uint32_t node; // Node in the call tree, or an id of path_ids.c; memo only.
    // Index of the frame's first check. The checks before it belong to the frames outside this
    // frame. Memo only.
    uint32_t check_start;
    uint8_t uses_rbp;  // Stepping out of this frame needs rbp.
    uint8_t needs_rbp; // This frame or one outside it needs this value of rbp; memo only.
    uint8_t flags;     // enum disk_node_flags.
};

/* A word of the stack that must still equal VALUE if the memo's frames are current. */
struct stack_check {
    uint64_t address, value;
};

enum {
    // Checks are compared in groups of this size. The first checks of a memo always succeed; they
    // complete the group of the outermost frame.
    CHECK_GROUP = 4,
    CHECKS_RESERVED = CHECK_GROUP - 1,
    CHECKS_MAX = CHECKS_RESERVED + 3 * LIMIT_MEMO,
    INNER_BLOCKS = 8,
    STACK_VARIANTS = 1024,
    VARIANT_CHECKS = 3 * CHECK_GROUP,
    STACK_PREDICTIONS = 8192,
    RULE_CACHE_ENTRIES = 4096,
    RECENT_BLOCKS = 256,
};

/* The counters for the blocks of one stack. */
struct stack_target {
    uint32_t *sites; // Sites of the stack's node.
    uint32_t frames; // Number of frames of the stack.
    // By size class: the site, and this thread's counters. Before they are known, a counter that no
    // block matches.
    uint32_t site[DISK_SIZE_CLASSES];
    // A stamp, different for each walked stack. While the memo is unchanged, equal stamps mean
    // equal C frames at equal addresses. 0 = the target cannot be recognised again.
    uint32_t stamp;
    struct disk_counter *counter[DISK_SIZE_CLASSES];
};
static_assert(sizeof(struct stack_target) == 64, "one cache line");

/* A variant stack: an earlier stack that shares the outer frames of the memo but is not in the memo
 * itself. One cache line identifies the stack, one contains its target, and each group of checks
 * has one. */
struct stack_variant {
    uint64_t slot; // Slot of the innermost frame; 0 = unused.
    uint64_t rbp;  // The caller's rbp; compared only if needs_rbp.
    uint64_t join_slot, join_rbp;
    uint64_t version; // Value of memo_version when the joining frame was last found unchanged.
    uint32_t join_node;    // The joining frame's node.
    uint32_t outer_checks; // Number of checks of the frames outside the joining frame.
    uint16_t join;         // Index of the joining frame, the innermost one shared with the memo.
    uint8_t needs_rbp;
    uint8_t check_count; // Number of checks, a multiple of CHECK_GROUP.
    // For a stack without nodes. `root`: parent of its outermost frame if `join` is 0. `slots`: a
    // bit for each check whose word is the return address of a frame inside the joining frame.
    uint8_t root;
    uint16_t slots;
    struct stack_target target __attribute__((aligned(64)));
    // Checks of the joining frame and of all frames inside it. The first check is repeated to
    // complete the group.
    struct stack_check checks[VARIANT_CHECKS];
};
static_assert(sizeof(struct stack_variant) == (2 + VARIANT_CHECKS / CHECK_GROUP) * 64, "lines");

/* A block that a function of the real allocator has requested and that is not yet counted:
 * event/deferred.c. */
struct inner_block {
    void *p;
    uint64_t size_bytes;
    uint32_t *sites; // Sites of the stack.
    bool odd;        // True if the real allocator cannot report the block's size.
};

/* A cached rule for stepping out of a frame, 16 bytes. Kind RULE_NONE = empty. A cached RULE_RSP
 * has two additional properties: its CFA is a multiple of 8 bytes above rsp, and the caller's rbp,
 * if saved, is between rsp and the CFA. Any other RULE_RSP is cached as RULE_FULL. */
struct rule_entry {
    uint64_t frame; // The address with its module, as in struct disk_node.
    struct unwind_rule rule;
};

/* State of a struct thread. Both fast paths test one bit: that of frees, or that of
 * allocations. */
enum thread_ready {
    THREAD_NOT = 0, // Not joined, or wiped in a forked child.
    THREAD_FREES = 1,
    THREAD_STALE = 2, // Joined, and must read pending changes before its next event.
    THREAD_ALLOCATIONS = 4,
    THREAD_READY = THREAD_FREES | THREAD_ALLOCATIONS,
    // Like READY, but only stacks without code of a runtime have counters in their targets
    // (mixed/language_frames.c); tls.needs_slow_path is set.
    THREAD_MERGES = THREAD_READY | 8,
    // All allocations need the slow path; tls.needs_slow_path is set.
    THREAD_NEEDS_SLOW_PATH = THREAD_FREES | 2,
};

/* The state of a thread in private memory: one struct per row of the thread table. A new thread
 * inherits the struct of an ended thread. Only the owner accesses it, except for `owner_tid`,
 * `ready` and the fields that peak.c lists. In a forked child the struct is zeroed, so that `ready`
 * is 0. */
struct thread {
    /* Fields that every event touches. */
    uint32_t ready;     // enum thread_ready.
    uint32_t countdown; // Events until the next tick.
    // Sum of the changes of live bytes by this thread's events. While it is in [live_low, live_low
    // + live_span], changes may stay unpublished. Other threads read live_bytes.
    int64_t live_bytes, live_low;
    uint64_t live_span;
    uint8_t alloc_seq; // Birth number of the thread's next block, modulo RECENT_BLOCKS.
    bool at_peak;      // True during a run of maxima: peak.h.
    bool leaf_needs_rbp;
    struct disk_bins *bins;
    struct disk_block **blocks; // Indexed by site / DISK_BLOCK_SITES.
    struct disk_shared *shared; // In the header.
    uint32_t **ledger;          // ledger_state()->ledger.
    uint64_t direct_units;      // ledger_direct_units.
    // Slot and rbp of the memo's innermost frame. leaf_slot is 0 if the memo is not the latest
    // stack.
    uint64_t leaf_slot, leaf_rbp;
    struct stack_target leaf;
    uint32_t memo_count;
    uint32_t check_count;  // Number of checks, including those before the memo.
    uint64_t memo_version; // Incremented at each change of the memo.
    uint32_t history;      // Hash of the latest `variants` in use.
    uint32_t row;
    uint64_t frames_reused; // Number of reused memo frames. A tick stores it in the file.
    struct disk_thread *disk;
    uint64_t long_lives; // Counts ended blocks whose lives no counter counts: recent.h. Unused.
    // The thread's latest blocks: recent.h. 0 = none, or freed.
    uint64_t recent[RECENT_BLOCKS] __attribute__((aligned(16)));
    // While T is the only thread: the maximum of live bytes, which other threads read when they
    // join, and live bytes without this thread's live_bytes.
    int64_t peak_seen, live_besides;
    // The previous maximum and its epoch at the time when at_peak was set.
    int64_t raised_from;
    uint64_t raised_after;
    uint64_t epoch_before, epoch_raised;
    int64_t ticked_bytes; // live_bytes at the latest tick.

    uint32_t generation; // Value of state->generation when the caches below were last emptied.
    uint64_t stack_low,
        stack_high; // Bounds of the thread's own stack if known; frames are in [low, high).
    uint64_t thread_pointer;
    bool stack_sought; // True after the mapping of the thread pointer was looked up.

    struct ledger_prefaulted prefaulted;
    uint32_t owner_tid; // Atomic; 0 = the row is free. See owner_word in join.c.
    // Atomic: published live_bytes, and slack: an upper bound of unpublished growth (peak.c).
    int64_t published_bytes, slack_bytes;
    // Struct for events of signal handlers that interrupt the recorder while it uses this struct;
    // NULL = not needed yet.
    struct thread *nested;
    struct thread *outer;        // The struct whose `nested` is this struct; NULL = none.
    uint32_t level;              // Nesting depth of this struct.
    uint32_t inner_count;        // Number of entries of `inner`, oldest first.
    struct inner_block inner[INNER_BLOCKS];
    uint64_t outer_entered;       // Value of tls.entered for the event of `outer` that was
                                  // interrupted last.
    struct stack_target uncached; // Target of the latest stack that could not be cached.
    uint32_t stamps;              // The latest stamp given to a struct stack_target.
    bool memo_is_cut;             // True if the memo lacks the outermost frames.
    uint32_t merges;              // Number of languages whose frames its stacks get. If it is not
                                  // 0, C frames have no nodes.
    uint32_t memo_root;           // Parent node of the outermost frame of the memo.
    uint32_t walked_root;         // The same for the frames that walk_full has walked,
    uint32_t walked_count;        // and their number.
    // End of the pages that these frames lie on, if rules alone step out of all of them, on one
    // stack; else 0.
    uint64_t walked_end;
    struct coroutines *coroutines; // stack/coroutines.c; NULL until needed.
    bool coroutines_failed;        // There was no memory for it.
    bool is_coroutine;             // This struct is the memo of such stacks.
    uint32_t path_id_next;        // Next id of path_ids.c.
    struct path_ids *path_ids;    // NULL until needed.
    uint32_t memo_same;           // Number of memo frames, from index 1 on, that are unchanged
                                  // since language_natives.c examined them.
    struct language_memo *language; // language_frames.h; NULL until needed.
    struct heap_memo *heaps;        // event/heap.c; NULL until needed.
    struct short_table *shorts;     // stack/short.c; NULL until needed.
    int64_t callers_left;           // Number of allocations until the next with a whole stack.
    uint32_t callers_mode;          // Index in `sample.callers`; 0 = all stacks are whole.
    uint32_t callers_period;        // Period of that mode.
    uint64_t whole_cycles;          // Cost of whole stacks since budget_add.
    // Index in `variants` of the stack that followed last time. `predicted` is indexed by history
    // and innermost frame, `latest` by innermost frame alone.
    uint16_t predicted[STACK_PREDICTIONS], latest[STACK_PREDICTIONS];
    // Index in `variants`, by hash of the innermost frames; 0 = none. A stack has two possible
    // places, which differ in the lowest bit. Entries of `variants` are assigned in order, so that
    // a short process uses few pages.
    uint16_t variant_at[STACK_VARIANTS];
    uint32_t variant_count;
    // Indexed from 1; entry 0 is unused.
    struct stack_variant variants[STACK_VARIANTS + 1] __attribute__((aligned(64)));
    struct stack_check checks[CHECKS_MAX];
    // Outermost first, indexed from 1; entry 0 is outside all frames.
    struct stack_frame memo[LIMIT_MEMO + 1];
    struct stack_frame walked[LIMIT_WALK]; // Innermost first; scratch.
    struct rule_entry rules[RULE_CACHE_ENTRIES];
    char text[4096]; // Scratch for kernel output: /proc/self/maps, or the list of resident pages.
    uint32_t tick_events;      // Planned number of events between the latest two ticks: tick.c.
    uint32_t close_ticks;      // Number of further events before which each event ticks: tick.c.
    uint64_t ticked_ns;        // Elapsed time at the latest tick.
    uint32_t timed_phase;      // Number of ticks since the last tick with a timed event, below
                               // TIMED_TICKS.
    uint64_t work_ns;          // Processor time at the previous tick; 0 = not read.
    uint64_t work_cycles;      // Cycle counter at the previous tick.
};

/* Return true if T has joined in this process; T may be NULL. */
static inline bool
thread_is_ready(const struct thread *t)
{
    return likely(t != NULL) && likely(load_relaxed(&t->ready) != THREAD_NOT);
}

/* Invalidate all threads: each must read pending changes before its next event. Call after code was
 * unloaded, or after a thread's allowance for the peak has changed. */
void thread_invalidate_all(void);

/* Invalidate T alone. */
void thread_invalidate(struct thread *t);

/* Return the number of rows. The last of these entries of account_state()->threads may still be
 * NULL. */
uint32_t thread_row_count(void);

/* Create the counters of T at SITE. Return NULL if memory is exhausted. */
struct disk_counter *thread_counter_make(struct thread *t, uint32_t site);

static inline struct disk_counter *
thread_counter(struct thread *t, uint32_t site)
{
    struct disk_block *b = t->blocks[site / DISK_BLOCK_SITES];

    return likely(b != NULL) ? &b->counters[site % DISK_BLOCK_SITES] : thread_counter_make(t, site);
}

/* Store the calling thread's current name in its row. */
void thread_refresh_name(struct thread *t);

/* thread_set_name stores NAME, 16 bytes in the kernel's form, in D. thread_has_name compares NAME
 * with D's. Safe while other threads read or write the same name. */
void thread_set_name(struct disk_thread *d, const char *name);
bool thread_has_name(const struct disk_thread *d, const char *name);

#endif
