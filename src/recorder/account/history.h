/* history.h: the values of the counters at chosen moments. */
#ifndef ACCOUNT_HISTORY_H
#define ACCOUNT_HISTORY_H

#include "account/thread.h"

/* Read the settings from the environment. Requires the profile; call before anything is counted. */
void history_start(void);

/* Take a snapshot of this moment, of KIND and called NAME (NULL: none); at most
 * DISK_SNAPSHOT_NAME_BYTES of NAME are read. Does not wait and does not need the thread's struct.
 * Any thread may call this, in an event or in a signal handler. */
enum disk_answer history_snapshot(const char *name, enum disk_snapshot_kind kind);

/* Like history_snapshot, for a tool that requests snapshots called NAME periodically. Return
 * DISK_ANSWER_FULL while the next would come too early for the capacity of HISTORY. One thread at a
 * time. */
enum disk_answer history_periodic(const char *name);

/* Take the snapshots that the timeline and the growth of live bytes require. Call at T's tick. The
 * tick before was at BEFORE_NS, with BEFORE_BYTES live. */
void history_poll(const struct thread *t, uint64_t elapsed_ns, uint64_t before_ns,
                  int64_t before_bytes);

/* If the process has rested since the tick at BEFORE_NS, take a snapshot of that time. Call before
 * an event of T, which has counted nothing since its last tick. */
void history_rested(const struct thread *t, uint64_t elapsed_ns, uint64_t before_ns);

/* Like history_poll, when the process ends or before a requested snapshot: take only a snapshot of
 * changes that preceded a rest. T is NULL in a thread without events. */
void history_end(const struct thread *t, uint64_t elapsed_ns, uint64_t before_ns,
                 int64_t before_bytes);

/* Write down the values of counter C, which is about to change for the first time since the latest
 * snapshot. Without room, a loss is counted. Call in an event. */
void history_note(struct disk_counter *c);

/* Take a snapshot because the chosen signal has arrived. Async-signal-safe. */
void history_signal(void);

#endif
