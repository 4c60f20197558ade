/* live_memory.h: memory of a running process. */
#ifndef IMAGE_LIVE_MEMORY_H
#define IMAGE_LIVE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

#include "image/memory.h"

/* Open the memory of process PID. The process keeps running, and each read returns the bytes at the
 * time of the read. Returns 0 and an owned *RET (memory_close), or HEAPTAP_BAD_INPUT with ERR
 * set. */
int live_memory_open(uint32_t pid, struct memory *ret, struct err *err);

/* Read the address ranges of M again. This takes 40 ms per GiB. */
void live_memory_renew(struct memory *m);

/* Return true if the process has the address ranges of M, with the same access. */
bool live_memory_has_ranges(const struct memory *m);

/* Note which ranges without write access were written, according to M's snapshot. Return false if
 * the snapshot has zeros in a range of M. */
bool live_memory_note_copied(struct memory *m);

enum live_stop {
    LIVE_STOP_ALL,
    LIVE_STOP_SPARING, // Stop all threads, except those asleep in fragile calls.
};

/* Wait until no other heaptap stops the process of M, at most for ten seconds, and keep others
 * waiting. Return the descriptor to close afterwards; -1 if there is no lock. */
int live_memory_lock(const struct memory *m);

/* Wait until no thread of M is asleep in a fragile call, at most for a second. */
void live_memory_await(struct memory *m);

/* Stop the threads of M as HOW requires, so that later reads belong to one moment. Store them in M.
 * The address ranges of M do not change.
 * Return the number of threads that could not be stopped. A thread that is spared or held by the
 * kernel has no registers. */
size_t live_memory_stop(struct memory *m, enum live_stop how);

/* Stop one thread of M and store it in M: one that sleeps in no fragile call if possible, or else
 * the thread PREFERRED. Return false if none can be stopped. */
bool live_memory_stop_one(struct memory *m, uint32_t preferred);

/* Return true if a thread that live_memory_stop spared may have run since. */
bool live_memory_moved(struct memory *m);

/* Return the id of the process that traces M or one of its threads, 0 if none is visible. *RET_NAME
 * is its name, from M's arena. Requires that we have not stopped M. */
uint32_t live_memory_tracer(struct memory *m, const char **ret_name);

/* Resume the threads. M can still be read. */
void live_memory_go_on(struct memory *m);

/* --- restart_call.c: system calls of another process that stopping it has interrupted. */

/* Make thread TID of process PID restart a call that our stop interrupted with EINTR, or let the
 * call time out if its timeout has passed. REGISTERS are the thread's. Requires TID to be in a stop
 * caused by PTRACE_INTERRUPT, or in one for a signal: a traced thread also wakes up for ignored
 * signals. If a pending signal has a handler, the call still returns EINTR. */
void restart_call(uint32_t pid, uint32_t tid, struct user_regs_struct registers);

/* Return true if a stop may irreparably change the result of the system call NUMBER with
 * ARGUMENTS. */
bool call_is_fragile(uint64_t number, const uint64_t arguments[6]);

#endif
