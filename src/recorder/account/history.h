/* history.h: records the values of all counters at snapshots. */
#ifndef ACCOUNT_HISTORY_H
#define ACCOUNT_HISTORY_H

#include "account/thread.h"
#include "base/base.h"

/* Read the settings from the environment. Requires the profile. Call before the first event is
 * counted. */
void history_start(void);

/* Take a snapshot of KIND, named NAME (NULL: unnamed). At most DISK_SNAPSHOT_NAME_BYTES of NAME are
 * read. Does not wait and does not use the thread's struct. Call from any thread, in an event or in
 * a signal handler. */
enum disk_answer history_snapshot(const char *name, enum disk_snapshot_kind kind);

/* Like history_snapshot, for a tool that periodically requests snapshots named NAME. Return
 * DISK_ANSWER_FULL if the interval since the previous one is too short for the capacity of HISTORY.
 * Only one thread at a time may call this. */
enum disk_answer history_periodic(const char *name);

/* Take the timeline and growth snapshots that are due. Call at T's tick. The previous tick was at
 * BEFORE_NS, when BEFORE_BYTES were live. */
void history_poll(const struct thread *t, uint64_t elapsed_ns, uint64_t before_ns,
                  int64_t before_bytes);

/* If the process has been idle since the previous tick at BEFORE_NS, take a snapshot with that
 * time. Call before an event of T, which must have counted no event since its last tick. */
void history_rested(const struct thread *t, uint64_t elapsed_ns, uint64_t before_ns);

/* Like history_poll, but only take a snapshot of changes that preceded an idle period. Call when
 * the process ends, or before a requested snapshot. T is NULL in a thread without events. */
void history_end(const struct thread *t, uint64_t elapsed_ns, uint64_t before_ns,
                 int64_t before_bytes);

/* Record the values of counter C, which is about to change for the first time since the latest
 * snapshot. If there is no room, count a loss. Call in an event. */
void history_note(struct disk_counter *c);

/* Take a snapshot because the selected signal was received. Async-signal-safe. */
void history_signal(void);

/* --- epoch.c: the number that counters compare to detect that they must save their values. Both
 * functions are thread-safe and async-signal-safe. */

/* Raise the epoch. First store the new value in *ANNOUNCED, the header's peak_epoch or
 * snapshot_epoch, which identifies the reason. */
void epoch_raise(uint64_t *announced);

/* Complete an epoch_raise that another thread has begun, because that thread may never resume. */
void epoch_finish_raise(void);

#endif
