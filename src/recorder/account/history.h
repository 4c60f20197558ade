/* history.h: what the counters were at chosen moments. */
#ifndef ACCOUNT_HISTORY_H
#define ACCOUNT_HISTORY_H

#include "account/thread.h"

/* Learn what the environment asks for. The profile is there, and nothing is counted yet. */
void history_start(void);

/* Take a snapshot of this moment, of KIND and called NAME (NULL: none), of which
 * DISK_SNAPSHOT_NAME_BYTES at most are read. Neither waits nor needs anything of the thread: any
 * may call it, in an event or in a signal handler. */
enum disk_answer history_snapshot(const char *name, enum disk_snapshot_kind kind);

/* The same called NAME, as a tool asks for it every so often. Refuse with DISK_ANSWER_FULL while it
 * is too early for what HISTORY can hold. One thread at a time. */
enum disk_answer history_periodic(const char *name);

/* Take the snapshots that the timeline and the growth of live bytes ask for. Called at T's tick.
 * The tick before was at BEFORE_NS, with BEFORE_BYTES live. */
void history_look(const struct thread *t, uint64_t elapsed_ns, uint64_t before_ns,
                  int64_t before_bytes);

/* The same when the process ends: take a snapshot only of what changed before a rest. T is NULL in
 * a thread without events. */
void history_end(const struct thread *t, uint64_t elapsed_ns, uint64_t before_ns,
                 int64_t before_bytes);

/* Counter C, which is about to change, has not changed since before the latest snapshot: write down
 * what it was; without room that is counted as a loss. In an event. */
void history_note(struct disk_counter *c);

/* The signal that is to be a snapshot has come. Async-signal-safe. */
void history_signal(void);

#endif
