/* state.h: the recorder's whole state, in one place.
 *
 * Two kinds of memory. *Process constants* (the next allocator's functions) live in ordinary data
 * and survive fork. *State* lives in private memory that a forked child sees as zeros (mem.h). So
 * `state->ready == 0` means that this process has not started recording, whether it is new or a
 * child. No static pointer into a file mapping exists outside the state.
 *
 * Invariants
 *   - tls.busy != BUSY_NO exactly while this thread is inside the recorder, or inside a function of
 *     the next allocator that may call back into the recorder.
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

/* How the requested size of a block is recovered when it is freed. */
enum usable_mode {
    USABLE_NONE,  // The allocator does not report it: every size goes to the ledger's side table.
    USABLE_CALL,  // By malloc_usable_size.
    USABLE_GLIBC, // From the chunk's size word in front of the block.
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

/* Sums of the threads' published live bytes, on a separate cache line; peak.c. All atomic. */
struct peak_sums {
    int64_t told_bytes;  // Sum of published live bytes: the total, except for unpublished changes.
    int64_t spare_bytes; // Sum of the threads' slack: an upper bound of unpublished growth.
    uint32_t settles;    // Approximate number of publications. May wrap around.
} __attribute__((aligned(64)));

/* The distance of snapshots of one kind; history.c. */
struct snapshot_pace {
    uint64_t width_ns;      // Atomic: minimum distance; 0 = any.
    uint64_t last_ns;       // Elapsed time of the last one.
    uint64_t history_bytes; // History in use when the distance last doubled.
    uint32_t taken;         // Snapshots since then.
};

struct state {
    uint32_t ready;      // Atomic, enum ready.
    uint32_t starting;   // Atomic: 1 once a thread has begun to start.
    uint32_t multi;      // More than one thread has been seen.
    uint32_t generation; // Atomic: rises when code may have been unloaded.
    struct disk_header *header;
    struct disk_node *nodes;            // tables[DISK_NODES].base
    struct first_child *first_children; // By node; nodes.c.
    struct children *children;
    uint64_t children_used;  // Atomic: indexes into it handed out, 0 included.
    uint64_t first_children_made, children_made; // Atomic: prefaulted bytes (mem_fill).
    uint32_t **ledger;        // Top level; ledger.c.
    uint64_t **hooked_ledger; // Atomic: top level; ledger_hooked.c. NULL = none.
    uint32_t granule_shift;  // 5 with glibc, else 4.
    uint32_t usable;         // enum usable_mode.
    uint32_t depth_max;      // Innermost frames kept of a stack.
    bool forked;

    uint64_t early_events;     // Atomic: events while another thread was starting, not yet counted.
    uint64_t sites;            // Atomic: site ids handed out, 0 and the sites of "other" included.
    uint64_t ticked_events;    // Atomic: events that all threads counted up to their latest ticks.
    uint32_t *overflow[6];     // nodes.c: hash tables of nodes that found no place in `children`.
    struct side *side[12];     // ledger_side.c: tables of growing size.
    uint32_t *unknown;         // unknown.c: hash table of record ids.
    struct rule_bucket *rules; // rules.c: the second level.
    uint64_t rules_added;      // Atomic.
    struct table tables[DISK_KINDS];

    /* heap.c, heap_instance.c, heap_objects.c, heap_sparse.c, heap_table.c, label.c */
    struct heap_name *heap_names;    // By number.
    struct heap_instances *heaps;
    struct heap_leaf **heap_shadow[5]; // Atomic, by tier: top level; heap_objects.c. NULL = none.
    struct heap_sparse *heap_sparse;   // Atomic; heap_sparse.c. NULL = none.
    struct heap_slab *heap_slab; // Atomic; heap_table.c.
    uint32_t *label_records; // By set: index of its record in DISK_LABELS; 0 = none yet.
    struct named_records *named; // Atomic; named.c. NULL = no frame was named yet.

    /* mem.c */
    uint32_t first_region; // In mem.c's table; earlier ones belong to the parent.
    unsigned char *growing_page; // Atomic: see grow_page; NULL = a thread holds it.
    unsigned char *arena;        // Source of all private memory; NULL = the kernel.
    uint64_t arena_bytes;
    uint64_t arena_used; // Atomic.
    uint64_t spare_bytes;   // Atomic: see limit.c; 0 = no limit on address space was seen.
    uint32_t giving_back;   // Atomic: a thread is shrinking reservations.
    uint64_t limit_seen;    // Atomic: that limit at its last reading.
    uint64_t limit_next_ns; // Atomic: elapsed time of its next reading.
    uint64_t memory_limit;  // Atomic: limit on the recorder's memory and file; 0 = none.
    uint64_t nodes_counted; // Atomic: nodes when the private memory was last measured.
    uint64_t charged;         // Atomic: bytes accounted for before they were touched,
    uint64_t charged_counted; // and their number when the private memory was last measured.

    /* peak.c */
    uint32_t peak_mode;   // Atomic, enum peak_mode.
    uint32_t near_since;  // Atomic: settles when it became PEAK_NEAR.
    uint32_t far_since;   // Atomic: settles when it became PEAK_FAR.
    uint32_t near_shift;  // Atomic: log2 of the settles of each thread in PEAK_NEAR.
    uint32_t share_shift; // Atomic: log2 of the number of shares of the error.
    uint32_t floor_settles; // Atomic: settles when floor_bytes was last changed,
    uint64_t floor_ticked;  // Atomic: ticked_events then.
    int64_t floor_bytes;    // Atomic: error allowed even if the peak is small.

    /* file.c */
    char path[4096];
    uint64_t device, inode;
    uint64_t reserve_bytes; // Size of the file from the start, which never grows; 0 = it grows.
    uint64_t file_end;      // Atomic: bytes of the file handed out to segments.
    uint64_t file_bytes;    // Atomic: last known size of the file.
    uint32_t segment_count; // Atomic.
    uint32_t file_failed;   // Atomic.

    /* thread.c */
    struct thread **threads; // By row id.
    uint32_t sweep;          // Atomic: where the search for dead owners continues.
    uint32_t live_threads;   // Atomic: rows with an owner, dead ones not yet swept included.
    uint32_t free_rows;      // Atomic: rows without an owner, to skip a vain search.
    uint32_t block_off;      // Atomic: offset of glibc's record of a stack; bounds.c. 0 = unknown.

    /* way.c, request.c, errors.c */
    uint32_t gaps;           // Set once some blocks may have been left out.
    uint32_t change_busy;    // Atomic: a thread is changing the way of recording or setting a mark.
    uint64_t control_seen;   // Generation of the latest request that was answered.
    uint64_t sampled_events; // Atomic: events that samples stand for.
    uint32_t *errors;        // By site: index of its record in DISK_ERRORS plus 1.
    uint64_t errors_count;   // Atomic: number of sites with a place there.

    /* guard.c */
    bool guard_due; // A guest (identity.h) has started: the owner lacks the recorder's handlers.

    /* orphan.c */
    uint32_t orphan_tid;    // The thread that must finish a parent's event; 0 = none.
    uint64_t orphan_events; // Atomic: events lost until then.

    /* modules.c */
    struct module_range *modules; // By module id.
    uint32_t module_count;        // Atomic.
    uint32_t modules_busy;        // Atomic.

    /* tick.c */
    uint64_t start_ns;
    uint64_t interval_ns;   // The timeline's.
    uint64_t next_point_ns; // Atomic.
    uint64_t dated_epoch;   // The peak epoch whose time is in the header.
    uint32_t timeline_busy; // Atomic.
    uint64_t stack_top;     // Upper end of the main thread's stack.
    uint64_t stack_limit;   // Lower end to which it may grow.

    /* history.c */
    uint32_t snapshot_latest;  // Atomic: the highest announced id; 0 = none.
    uint32_t snapshot_busy;    // Atomic: a thread is taking the timeline's next snapshot.
    uint64_t snapshot_next_ns; // Atomic: elapsed time when that is due.
    uint64_t snapshot_last_ns; // Atomic: elapsed time of the latest snapshot of any kind.
    int64_t snapshot_live_bytes; // Atomic: at the timeline's latest snapshot.
    struct snapshot_pace timed;  // The timeline's; guarded by snapshot_busy.
    struct snapshot_pace period; // For --snapshot-every; guarded by change_busy.
    uint64_t growth_bytes;       // Growth of live bytes that triggers a snapshot; 0 = none.
    int64_t growth_base;         // Atomic: the least live bytes since the latest such snapshot.
    uint32_t growth_count;       // Atomic: such snapshots.
    uint64_t collections;        // Atomic: collections that adapters have reported.
    uint32_t signal_count;       // Atomic: signals that requested a snapshot.
    uint32_t snapshot_signal;    // Its number; 0 = none.

    struct peak_sums sums;

    struct core_record *core; // dumped.c; NULL = none.

    /* mem.c */
    uint64_t dumped_bytes; // The front part of the arena, which core dumps hold.
    uint64_t dumped_used;  // Atomic: taken from that, or from the pool's such part.
    unsigned char *pool;   // Source of the first private memory; NULL = the kernel.
    uint64_t pool_used;    // Atomic.
    uint64_t pool_end;     // Its size in this process: a parent may have unmapped the rest.

    bool in_memory; // The profile is private memory, and the file is a copy of it.

    /* file_copy.c */
    bool copy_told;           // A failed copy was reported.
    struct copying *copying;
    uint32_t copy_busy;       // Atomic: a thread is copying.
    uint64_t copy_next_ns;    // Atomic: elapsed time when the next copy is due.
    uint64_t copy_wait_ns;    // Time between two copies.
};

/* NULL before the first start; then it keeps its address, also in children. */
extern struct state *state;

enum busy { BUSY_NO = 0, BUSY_NEXT = 1, BUSY_RECORDER = 2 };

struct tls {
    struct thread *self; // NULL until the thread's first event. Check ready: a child's is wiped.
    // Result of the next allocator's latest function if it came unchanged from an inner malloc.
    const void *nested_block;
    uint64_t entered; // Slot of the event that set busy.
    uint32_t busy;    // enum busy. Plain: only this thread and its signal handlers.
    uint32_t exact;   // 1 while the thread records every call; way.c.
    uint32_t labels;  // Its label set; label.h. 0 = none.
    // Its events need the slow path, as of the latest look: their node is not the C stack's,
    // because the thread has labels or frames of another language may run.
    uint32_t apart;
    // During a recorded reallocation, if `apart`: the block's old and new address.
    const void *moved_from, *moved_to;
    size_t moved_bytes; // As in the API (heaptap/language.h).
    uint64_t namespace_slot; // Slot of the call of dlmopen in progress; 0 = none.
    uint32_t nests;   // Nests of an event that began before its struct existed; nest.h.
    // Latest return addresses of callbacks from the next allocator, newest first. No signal frame
    // was between.
    uint64_t callbacks[8];

    /* The gate in front of each allocation; gate.h. All zero: the next call looks. */
    int64_t credit;       // Charge left; below zero: record or look.
    uint64_t charge_mask; // Bits of a size that are charged: all, or none when calls are counted.
    int64_t reserve;      // Charge from the next look to the next sample.
    uint64_t random;      // State of the generator.
    uint32_t change;      // sample.change when the thread last adopted a way; 0 = never.
    uint32_t way;
    uint32_t sampled_way; // The way of the sample being recorded.
    uint32_t freed_site;    // The latest sample that was freed, and the credit at that time.
    const void *freed_block;
    int64_t freed_credit;
    int64_t block_credit; // The credit after the thread's latest sample.

    /* For annotated blocks; entry/annotate_origin.h. */
    uint64_t origin_slot; // Caller of the intercepted function; 0 = not known.
    uint64_t origin_rbp;
    uint64_t annotating;  // Slot of the call of the next allocator; 0 = none.
    uint32_t check_countdown; // Events since this thread last checked blocks.
};

extern __thread struct tls tls;

#endif
