/* account_state.h: the state of counters, peak, history and the file. See platform/state.h. */
#ifndef ACCOUNT_ACCOUNT_STATE_H
#define ACCOUNT_ACCOUNT_STATE_H

#include "platform/state.h"

/* Sums of the threads' published live bytes, on a separate cache line; peak.c. All atomic. */
struct peak_sums {
    int64_t published_bytes; // Sum of published live bytes: the total, except for unpublished
                             // changes.
    int64_t slack_bytes;     // Sum of the threads' slack: an upper bound of unpublished growth.
    uint32_t settles;        // Approximate number of publications. May wrap around.
} __attribute__((aligned(64)));

/* The snapshots of one kind: their minimum distance; history.c. */
struct snapshot_pace {
    uint64_t width_ns;      // Atomic: minimum distance; 0 = any.
    uint64_t last_ns;       // Elapsed time of the last one.
    uint64_t history_bytes; // History in use when the distance last doubled.
    uint32_t taken;         // Snapshots since then.
};

struct account_state {
    /* nodes.c */
    struct disk_node *nodes;            // tables[DISK_NODES].base
    struct first_child *first_children; // By node.
    struct children *children;
    uint64_t children_used;                      // Atomic: indexes into it handed out, 0 included.
    uint64_t first_children_made, children_made; // Atomic: prefaulted bytes (mem_fill).
    uint32_t *overflow[6]; // Hash tables of nodes that found no place in `children`.
    uint64_t sites;        // Atomic: site ids handed out, 0 and the sites of "other" included.

    uint32_t *unknown_frees;     // unknown_frees.c: hash table of record ids.
    uint32_t *label_records;     // label.c: by set, index of its record in DISK_LABELS; 0 = none.
    struct named_records *named; // Atomic; named.c. NULL = no frame was named yet.
    uint32_t *errors;            // By site: index of its record in DISK_ERRORS plus 1.
    uint64_t errors_count;       // Atomic: number of sites with a place there.

    /* limit.c */
    uint64_t followed;      // Atomic: lowest limit on address space that was followed; 0 = none.
    uint32_t giving_back;   // Atomic: a thread is shrinking reservations.
    uint64_t limit_seen;    // Atomic: that limit at its last reading.
    uint64_t limit_next_ns; // Atomic: elapsed time of its next reading.

    /* peak.c */
    uint32_t peak_mode;     // Atomic, enum peak_mode.
    uint32_t near_since;    // Atomic: settles when it became PEAK_NEAR.
    uint32_t far_since;     // Atomic: settles when it became PEAK_FAR.
    uint32_t near_shift;    // Atomic: log2 of the settles of each thread in PEAK_NEAR.
    uint32_t share_shift;   // Atomic: log2 of the number of shares of the error.
    uint32_t floor_settles; // Atomic: settles when floor_bytes was last changed,
    uint64_t floor_ticked;  // Atomic: ticked_events then.
    int64_t floor_bytes;    // Atomic: error allowed even if the peak is small.
    uint64_t ticked_events; // Atomic: events that all threads counted up to their latest ticks.
    struct peak_sums sums;

    /* file.c */
    uint64_t device, inode;
    uint64_t reserve_bytes; // Size of the file from the start, which never grows; 0 = it grows.
    uint64_t file_bytes;    // Atomic: last known size of the file.
    uint32_t segment_count; // Atomic.
    uint32_t file_failed;   // Atomic.

    /* thread.c */
    struct thread **threads; // By row id.
    uint32_t sweep;          // Atomic: where the search for dead owners continues.
    uint32_t live_threads;   // Atomic: rows with an owner, dead ones not yet swept included.
    uint32_t free_rows;      // Atomic: rows without an owner; 0 saves a futile search.

    /* history.c */
    uint32_t snapshot_latest;    // Atomic: the highest announced id; 0 = none.
    uint32_t snapshot_busy;      // Atomic: a thread is taking the timeline's next snapshot.
    uint64_t snapshot_next_ns;   // Atomic: elapsed time when that snapshot is due.
    uint64_t snapshot_last_ns;   // Atomic: elapsed time of the latest snapshot of any kind.
    int64_t snapshot_live_bytes; // Atomic: live bytes at the timeline's latest snapshot.
    struct snapshot_pace timed;  // The timeline's; guarded by snapshot_busy.
    struct snapshot_pace period; // For --snapshot-every; guarded by change_busy.
    uint64_t growth_bytes;       // Growth of live bytes that triggers a snapshot; 0 = none.
    int64_t growth_base;         // Atomic: the minimum of live bytes since the latest such
                                 // snapshot.
    uint32_t growth_count;       // Atomic: such snapshots.
    uint64_t collections;        // Atomic: collections that adapters have reported.
    uint32_t signal_count;       // Atomic: signals that requested a snapshot.
    uint32_t snapshot_signal;    // Its number; 0 = none.

    /* file_copy.c */
    bool copy_reported; // A failed copy was reported.
    struct copying *copying;
    uint32_t copy_busy;    // Atomic: a thread is copying.
    uint64_t copy_next_ns; // Atomic: elapsed time when the next copy is due.
    uint64_t copy_wait_ns; // Time between two copies.

    char path[4096]; // file.c
};
static_assert(sizeof(struct account_state) <= STATE_ACCOUNT_BYTES, "platform/state.h reserves it");

/* Requires `state` not to be NULL. */
static inline struct account_state *
account_state(void)
{
    return (struct account_state *)(void *)state->account;
}

#endif
