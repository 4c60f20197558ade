/* snapshot.h: a copy of a process's memory at one moment, made by the kernel. */
#ifndef IMAGE_SNAPSHOT_H
#define IMAGE_SNAPSHOT_H

#include "image/injected_call.h"

struct snapshot {
    uint32_t child;        // Process with the copy; 0 = none.
    uint32_t thread;       // Thread that has forked it.
    struct injected_code code;
    uint64_t copied_bytes; // Memory whose page tables are copied during the stop.
};

/* Prepare a snapshot of M, which runs. Returns 0, or HEAPTAP_BAD_INPUT if none can be made, with
 * the reason in ERR as a clause: "it has a seccomp filter". */
int snapshot_prepare(const struct memory *m, struct snapshot *ret, struct err *err);

/* Return the expected duration of the stop for S. */
uint64_t snapshot_stop_ns(const struct snapshot *s);

/* Copy the memory of M, whose threads are stopped by live_memory_stop, to a new process, and make
 * reads of M read the copy. Returns like snapshot_prepare. The calling thread must exist until
 * snapshot_release. */
int snapshot_take(struct memory *m, struct snapshot *s, struct err *err);

/* Release the copy, and make reads of M read the process again. Requires that its threads run.
 * Return false if a zombie of the copy remains until the process ends. */
bool snapshot_release(struct memory *m, struct snapshot *s);

#endif
