/* account_state.h: the part of platform/state.h for counters, the peak, the history and the profile
 * file. */
#ifndef ACCOUNT_ACCOUNT_STATE_H
#define ACCOUNT_ACCOUNT_STATE_H

#include "platform/state.h"

/* Sums of the threads' published live bytes, on a separate cache line; see peak.c. All atomic. */
struct peak_sums {
    int64_t published_bytes; // Sum of all threads' published live bytes; excludes unpublished
                             // changes.
    int64_t slack_bytes;     // Sum of the threads' slack, an upper bound of unpublished growth.
    uint32_t flushes;        // Approximate number of publications. May wrap around.
} __attribute__((aligned(64)));

/* Interval between snapshots of one kind; see history.c. */
struct snapshot_pace {
    uint64_t width_ns;      // Atomic: minimum time between two snapshots; 0 = none are taken.
    uint64_t last_ns;       // Elapsed time of the latest snapshot.
    uint64_t history_bytes; // Used bytes of HISTORY when width_ns was last doubled.
    uint32_t taken;         // Number of snapshots since width_ns was last doubled.
};

enum { SEGMENTS_MAX = 8 };

/* The segments of an array after its first; see segments.h. All members are atomic. */
struct segments {
    unsigned char *base[SEGMENTS_MAX];
    uint64_t made_bytes[SEGMENTS_MAX]; // Prefaulted bytes of each segment (mem_fill).
};

struct account_state {
    /* nodes.c: the call tree and its index. */
    struct disk_node *nodes;            // tables[DISK_NODES].base
    struct first_child *first_children; // First segment, indexed by node.
    struct children *children;          // First segment.
    struct segments more_first_children, more_children;
    uint64_t children_used;                      // Atomic: number of used indexes into `children`,
                                                 // 0 included.
    uint64_t first_children_made, children_made; // Atomic: prefaulted bytes (mem_fill).
    uint32_t *overflow[10]; // Hash tables for nodes that do not fit into `children`.
    uint64_t sites;         // Atomic: number of used site ids, including 0 and the sites of
                            // "other".

    uint32_t *unknown_frees;     // unknown_frees.c: hash table of record ids.
    uint32_t *label_records;     // label.c: index in DISK_LABELS of each set's record; 0 = none.
    struct named_records *named; // Atomic; named.c. NULL = no frame has a name yet.
    uint32_t *errors;            // Indexed by site: index in DISK_ERRORS of its record, plus 1.
    uint64_t errors_count;       // Atomic: number of entries of `errors`.

    /* limit.c */
    uint64_t followed;      // Atomic: lowest address space limit applied so far; 0 = none.
    uint32_t giving_back;   // Atomic: a thread is shrinking reservations.
    uint64_t limit_seen;    // Atomic: the limit when it was last read.
    uint64_t limit_next_ns; // Atomic: elapsed time when the limit is due to be read again.

    /* peak.c */
    uint32_t peak_mode;     // Atomic, enum peak_mode.
    uint32_t near_since;    // Atomic: value of `flushes` when the mode became PEAK_NEAR.
    uint32_t far_since;     // Atomic: value of `flushes` when the mode became PEAK_FAR.
    uint32_t near_shift;    // Atomic: log2 of the number of flushes of each thread in PEAK_NEAR.
    uint32_t share_shift;   // Atomic: log2 of the number of shares of the error.
    uint32_t floor_flushes; // Atomic: value of `flushes` at the latest change of floor_bytes,
    uint64_t floor_ticked;  // and of ticked_events.
    int64_t floor_bytes;    // Atomic: allowed error in bytes for a small peak.
    uint64_t ticked_events; // Atomic: number of events of all threads, each counted up to the
                            // thread's latest tick.
    struct peak_sums sums;

    /* file.c */
    uint64_t device, inode;
    uint64_t reserve_bytes; // Fixed size of the file, set at the start; 0 = the file grows.
    uint64_t file_bytes;    // Atomic: last known size of the file.
    uint32_t segment_count; // Atomic: number of directory entries in use.
    uint32_t file_failed;   // Atomic: 1 after the file could not grow.

    /* thread.c */
    struct thread **threads; // Indexed by row id.
    uint32_t sweep;          // Atomic: row at which the next search for ended owners starts.
    uint32_t live_threads;   // Atomic: number of rows with an owner. Includes owners that have
                             // ended and were not found yet.
    uint32_t free_rows;      // Atomic: number of rows without an owner. 0 avoids a futile search.

    /* history.c */
    uint32_t snapshot_latest;    // Atomic: the highest announced id; 0 = none.
    uint32_t snapshot_busy;      // Atomic: a thread is taking the timeline's next snapshot.
    uint64_t snapshot_next_ns;   // Atomic: elapsed time when the timeline's next snapshot is due.
    uint64_t snapshot_last_ns;   // Atomic: elapsed time of the latest snapshot of any kind.
    int64_t snapshot_live_bytes; // Atomic: live bytes at the timeline's latest snapshot.
    struct snapshot_pace timed;  // Interval of the timeline; guarded by snapshot_busy.
    struct snapshot_pace period; // Interval of --snapshot-every; guarded by change_busy.
    uint64_t growth_bytes;       // Growth of live bytes that triggers a snapshot; 0 = none.
    int64_t growth_base;         // Atomic: minimum of live bytes since the latest growth snapshot.
    uint32_t growth_count;       // Atomic: number of growth snapshots.
    uint64_t collections;        // Atomic: number of garbage collections that adapters have
                                 // reported.
    uint32_t signal_count;       // Atomic: number of snapshot signals received.
    uint32_t snapshot_signal;    // Number of the signal that requests a snapshot; 0 = none.

    /* file_copy.c */
    bool copy_reported; // True after a failed copy was reported.
    struct copying *copying;
    uint32_t copy_busy;    // Atomic: a thread is copying.
    uint64_t copy_next_ns; // Atomic: elapsed time when the next copy is due.
    uint64_t copy_wait_ns; // Time between two copies.

    char path[4096]; // Absolute path of the profile; file.c.
};
static_assert(sizeof(struct account_state) <= STATE_ACCOUNT_BYTES, "platform/state.h reserves it");

/* Return this part of the state. Requires that `state` is not NULL. */
static inline struct account_state *
account_state(void)
{
    return (struct account_state *)(void *)state->account;
}

#endif
