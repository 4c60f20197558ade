/* state.h: the recorder's state: data that all rooms share, and space for the data of each room.
 *
 * There are two kinds of memory. *Process constants*, such as the real allocator's functions, are
 * in ordinary data and survive fork. *State* is in private memory that a forked child sees as zeros
 * (mem.h). So `state->ready == 0` means that this process has not started recording, be it new or a
 * child. No static pointer outside the state points into a file mapping.
 *
 * Invariants
 *   - tls.busy differs from REENTRY_IDLE exactly while this thread is inside the recorder, or
 *     inside a function of the real allocator that may call back into the recorder
 *     (event/reentry.c).
 *   - A struct thread is used by one thread at a time; other threads read only its owner_tid.
 *   - Tables only grow. An index that was assigned stays valid for the life of the process. */
#ifndef PLATFORM_STATE_H
#define PLATFORM_STATE_H

#include "base/base.h"
#include "format/format.h"
#include "platform/limits.h"
#include "unwind/unwind.h"

enum ready {
    READY_NO = 0, // The process has not started recording, or is a forked child.
    READY_YES = 1,
    READY_OFF = 2, // The start failed, or the process shall not be recorded. All calls go directly
                   // to the real functions.
};

/* A table of the profile: reserved address space, whose growing front part is mapped from the
 * file. */
struct table {
    unsigned char *base;
    uint64_t max_bytes;    // Atomic: size of the reservation. Only shrinks.
    uint64_t mapped_bytes; // Atomic: size of the mapped part. Stored with release order after
                           // mapping.
    uint64_t made_bytes;   // Atomic: size of the prefaulted front part (mem_fill).
    // Offset in the file and size of the first segment, until it is mapped; else 0.
    uint64_t first_off, first_bytes;
    uint64_t used; // Atomic: number of records in use (bytes, for strings). May exceed the mapped
                   // part.
    uint32_t record_bytes;
    uint32_t kind;    // enum disk_kind.
    uint32_t growing; // Atomic: 1 while a thread maps more of the table.
    uint32_t full;    // Not 0: the table can never grow again.
};

/* Size of the state that each room above this one has in struct state. The room declares its fields
 * in ROOM_state.h. */
enum {
    STATE_LEDGER_BYTES = 192,
    STATE_ACCOUNT_BYTES = 5312,
    STATE_HEAPS_BYTES = 128,
    STATE_STACK_BYTES = 192,
    STATE_EVENT_BYTES = 128,
};

struct state {
    uint32_t ready;      // Atomic, enum ready.
    uint32_t starting;   // Atomic: 1 from the time when a thread begins to start the recorder.
    uint32_t multi;      // The process has, or had, more than one thread.
    uint32_t generation; // Atomic: increases whenever code may have been unloaded.
    struct disk_header *header;
    struct table tables[DISK_KINDS];
    uint64_t start_ns;
    uint64_t file_end; // Atomic: bytes of the file assigned to segments.
    bool in_memory;    // The profile is in private memory, and the file is a copy of that profile.
    bool forked;

    /* mem.c */
    uint32_t first_region; // Index in mem.c's table of pieces; pieces with lower indexes belong to
                           // the parent.
    unsigned char *growing_page; // Atomic: see grow_page; NULL = a thread is using it.
    unsigned char *arena;        // Source of all private memory; NULL = take it from the kernel.
    uint64_t arena_bytes;
    uint64_t arena_used;    // Atomic.
    uint64_t arena_first;   // Offset of the arena's second part, which core dumps exclude.
    uint64_t memory_limit;  // Atomic: limit for the recorder's memory and file together; 0 = none.
    uint32_t limit_sought;  // Atomic: 1 while a thread finds the default limit.
    uint64_t unmeasured_bytes; // Atomic: estimated growth until the next measurement.
    uint64_t nodes_counted; // Atomic: number of nodes when private memory was last measured.
    uint64_t charged;         // Atomic: bytes charged in all (mem_charge).
    uint64_t charged_counted; // `charged` at the last measurement of private memory.
    uint64_t dumped_bytes; // Size of the arena's first part, which core dumps include.
    uint64_t dumped_used;  // Atomic: used bytes of the part that core dumps include, in the arena
                           // or else in the pool.
    unsigned char *pool;   // Source of the first private memory; NULL = take it from the kernel.
    uint64_t pool_used;    // Atomic.
    uint64_t pool_end;     // Size of the pool in this process. A parent may have unmapped the rest.

    unsigned char ledger[STATE_LEDGER_BYTES] __attribute__((aligned(64)));
    unsigned char account[STATE_ACCOUNT_BYTES] __attribute__((aligned(64)));
    unsigned char heaps[STATE_HEAPS_BYTES] __attribute__((aligned(64)));
    unsigned char stack[STATE_STACK_BYTES] __attribute__((aligned(64)));
    unsigned char event[STATE_EVENT_BYTES] __attribute__((aligned(64)));
};

/* The recorder's state; NULL before the first start. Afterwards the address is constant, also in
 * children. */
extern struct state *state __attribute__((visibility("hidden")));

enum reentry {
    REENTRY_IDLE = 0,
    REENTRY_IN_REAL = 1, // A function of the real allocator is running, and may call back.
    REENTRY_IN_RECORDER = 2,
};

struct tls {
    struct thread *self; // The thread's struct; NULL until its first event. Check `ready` first,
                         // because a forked child sees zeros in the struct.
    // Block of the latest nested malloc that a function of the real allocator returned unchanged.
    const void *nested_block;
    uint64_t entered; // Stack slot of the event that set `busy`.
    uint32_t busy;    // enum reentry. Not atomic, because only this thread and its signal handlers
                      // use it.
    uint32_t exact;   // 1 while the thread records every call; see mode.c.
    uint32_t labels;  // The thread's label set, see label.h. 0 = none.
    // 1 if the thread's events needed the slow path at the last check: the thread has labels, or
    // functions of another language may be running. So events are charged to another node than that
    // of the C stack.
    uint32_t needs_slow_path;
    // 1 if most of the thread's stacks are short (short.c) and the thread has no labels.
    uint32_t short_stacks;
    // Old and new address of the block during a recorded reallocation, if `needs_slow_path` is 1.
    const void *moved_from, *moved_to;
    size_t moved_bytes; // Number of moved bytes, as defined by the API (heaptap/language.h).
    uint64_t loading_slot; // Stack slot of a call of dlopen or dlmopen that may be in progress; 0 =
                           // none.
    uint32_t nests;   // Number of events nested in an event that began before its struct existed;
                      // reentry.h.
    uint32_t loading_namespace; // 1 if that call is of dlmopen.
    // Latest return addresses of callbacks from the real allocator, newest first. Recorded only if
    // there is no signal frame between event and callback.
    uint64_t callbacks[8];

    /* Fields of the gate before each allocation (gate.h). If they are all zero, the next call takes
     * the slow path. */
    int64_t credit;       // Charge left until a sample or poll, which is due when the credit is
                          // below zero.
    uint64_t charge_mask; // Mask for the charged bits of a size: all bits, or none when calls are
                          // counted.
    int64_t reserve;      // Charge that will be left until the next sample when the next poll is
                          // due.
    uint64_t random;      // State of the random generator.
    uint32_t change;      // sample.change when the thread last adopted a recording mode; 0 = never.
    uint32_t mode;
    uint32_t sampled_mode; // Recording mode of the sample being recorded.
    uint32_t freed_site;    // Site, address and credit of the latest freed sample.
    const void *freed_block;
    int64_t freed_credit;
    int64_t block_credit; // Credit after the thread's latest sample.

    /* Fields for annotated blocks; see event/reentry.h and annotator/annotate_real.c. */
    uint64_t origin_slot; // Slot of the return address to the intercepted function's caller; 0 =
                          // not known.
    uint64_t origin_rbp;
    uint64_t annotating;  // Slot of the return address of the call of the real allocator; 0 = none.
    uint32_t check_countdown; // Events left until this thread's next check of blocks.
};

extern __thread struct tls tls;

#endif
