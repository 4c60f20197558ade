/* state.h: the recorder's state: what all rooms share, and a place for what each room adds.
 *
 * Two kinds of memory. *Process constants* (the real allocator's functions) live in ordinary data
 * and survive fork. *State* lives in private memory that a forked child sees as zeros (mem.h). So
 * `state->ready == 0` means that this process has not started recording, whether it is new or a
 * child. No static pointer into a file mapping exists outside the state.
 *
 * Invariants
 *   - tls.busy is not REENTRY_IDLE exactly while this thread is inside the recorder, or inside a
 *     function of the real allocator that may call back into the recorder (event/reentry.c).
 *   - a struct thread is used by one thread at a time; others read none of it but owner_tid.
 *   - tables only grow; an index, once handed out, stays valid as long as the process. */
#ifndef PLATFORM_STATE_H
#define PLATFORM_STATE_H

#include "base/base.h"
#include "format/format.h"
#include "platform/limits.h"
#include "unwind/unwind.h"

enum ready {
    READY_NO = 0, // Not started, or a forked child.
    READY_YES = 1,
    READY_OFF = 2, // Start failed or recording is not wanted: pass everything through.
};

/* A table of the profile: reserved address space with a growing front part mapped from the file. */
struct table {
    unsigned char *base;
    uint64_t max_bytes;    // Atomic: reserved. Only shrinks.
    uint64_t mapped_bytes; // Atomic; released after the mapping is there.
    uint64_t made_bytes;   // Atomic: front part that is prefaulted (mem_fill).
    // Offset in the file and size of its first segment, while that is still unmapped; or 0.
    uint64_t first_off, first_bytes;
    uint64_t used; // Atomic: records (bytes, for strings) handed out. May exceed the mapped part.
    uint32_t record_bytes;
    uint32_t kind;    // enum disk_kind.
    uint32_t growing; // Atomic: 1 while a thread maps more.
    uint32_t full;    // Set when growing failed for good.
};

/* Bytes of the state for each room above, which declares the fields in ROOM_state.h. */
enum {
    STATE_LEDGER_BYTES = 192,
    STATE_ACCOUNT_BYTES = 4992,
    STATE_HEAPS_BYTES = 128,
    STATE_STACK_BYTES = 128,
    STATE_EVENT_BYTES = 128,
};

struct state {
    uint32_t ready;      // Atomic, enum ready.
    uint32_t starting;   // Atomic: 1 once a thread has begun to start.
    uint32_t multi;      // More than one thread has been seen.
    uint32_t generation; // Atomic: rises when code may have been unloaded.
    struct disk_header *header;
    struct table tables[DISK_KINDS];
    uint64_t start_ns;
    uint64_t file_end; // Atomic: bytes of the file handed out to segments.
    bool in_memory;    // The profile is private memory, and the file is a copy of it.
    bool forked;

    /* mem.c */
    uint32_t first_region; // In mem.c's table; earlier ones belong to the parent.
    unsigned char *growing_page; // Atomic: see grow_page; NULL = a thread holds it.
    unsigned char *arena;        // Source of all private memory; NULL = the kernel.
    uint64_t arena_bytes;
    uint64_t arena_used;    // Atomic.
    uint64_t arena_first;   // Offset of its second part, which core dumps do not hold.
    uint64_t memory_limit;  // Atomic: limit on the recorder's memory and file; 0 = none.
    uint64_t nodes_counted; // Atomic: nodes when the private memory was last measured.
    uint64_t charged;         // Atomic: bytes accounted for before they were touched,
    uint64_t charged_counted; // and their number when the private memory was last measured.
    uint64_t dumped_bytes; // The front part of the arena, which core dumps hold.
    uint64_t dumped_used;  // Atomic: taken from that, or from the pool's such part.
    unsigned char *pool;   // Source of the first private memory; NULL = the kernel.
    uint64_t pool_used;    // Atomic.
    uint64_t pool_end;     // Its size in this process: a parent may have unmapped the rest.

    unsigned char ledger[STATE_LEDGER_BYTES] __attribute__((aligned(64)));
    unsigned char account[STATE_ACCOUNT_BYTES] __attribute__((aligned(64)));
    unsigned char heaps[STATE_HEAPS_BYTES] __attribute__((aligned(64)));
    unsigned char stack[STATE_STACK_BYTES] __attribute__((aligned(64)));
    unsigned char event[STATE_EVENT_BYTES] __attribute__((aligned(64)));
};

/* NULL before the first start; then it keeps its address, also in children. */
extern struct state *state;

enum reentry {
    REENTRY_IDLE = 0,
    REENTRY_IN_REAL = 1, // A function of the real allocator is at work, and may call back.
    REENTRY_IN_RECORDER = 2,
};

struct tls {
    struct thread *self; // NULL until the thread's first event. Check ready: a child's is wiped.
    // Result of the latest call of a real allocator function, if it came unchanged from an inner
    // malloc.
    const void *nested_block;
    uint64_t entered; // Slot of the event that set busy.
    uint32_t busy;    // enum reentry. Plain: only this thread and its signal handlers.
    uint32_t exact;   // 1 while the thread records every call; mode.c.
    uint32_t labels;  // Its label set; label.h. 0 = none.
    // The thread's events need the slow path, as of the latest look: blocks are charged to another
    // node than the C stack's, because the thread has labels, or frames of another language may
    // run.
    uint32_t needs_slow_path;
    // During a recorded reallocation, if `needs_slow_path`: the block's old and new address.
    const void *moved_from, *moved_to;
    size_t moved_bytes; // As in the API (heaptap/language.h).
    uint64_t namespace_slot; // Slot of the call of dlmopen in progress; 0 = none.
    uint32_t nests;   // Events nested in one that began before its struct existed; reentry.h.
    // Latest return addresses of callbacks from the real allocator, newest first. Recorded only
    // without a signal frame between event and callback.
    uint64_t callbacks[8];

    /* The gate in front of each allocation; gate.h. All zero: the next call looks. */
    int64_t credit;       // Charge left; below zero: record or look.
    uint64_t charge_mask; // Bits of a size that are charged: all, or none when calls are counted.
    int64_t reserve;      // Charge left at the next look until the next sample.
    uint64_t random;      // State of the generator.
    uint32_t change;      // sample.change when the thread last adopted a recording mode; 0 = never.
    uint32_t mode;
    uint32_t sampled_mode; // Recording mode of the sample being recorded.
    uint32_t freed_site;    // The latest freed sample, and the credit at that time.
    const void *freed_block;
    int64_t freed_credit;
    int64_t block_credit; // The credit after the thread's latest sample.

    /* For annotated blocks; event/reentry.h, entry/annotate_real.c. */
    uint64_t origin_slot; // Caller of the intercepted function; 0 = not known.
    uint64_t origin_rbp;
    uint64_t annotating;  // Slot of the call of the real allocator; 0 = none.
    uint32_t check_countdown; // Events since this thread last checked blocks.
};

extern __thread struct tls tls;

#endif
