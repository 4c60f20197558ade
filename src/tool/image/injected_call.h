/* injected_call.h: make system calls in a stopped thread of another process. */
#ifndef IMAGE_INJECTED_CALL_H
#define IMAGE_INJECTED_CALL_H

#include <sched.h>
#include <sys/user.h>

#include "image/memory.h"

/* A borrowed thread, with the state that injected_give_back restores. */
struct injected {
    uint32_t tid;
    uint32_t pending;    // Signal that somebody sent meanwhile, for when the thread is resumed.
    uint32_t child;      // Process that the last call has made and that is traced; 0 = none.
    uint64_t syscall_at; // Address of a syscall instruction in the process.
    uint64_t mask;       // Blocked signals.
    int policy;          // Scheduling policy; negative = not changed.
    struct sched_param parameter;
    struct user_regs_struct registers;
};

/* Return the address of a syscall instruction in M, 0 if there is none. May read much memory. */
uint64_t injected_find_call(const struct memory *m);

/* Borrow thread TID of M, which we have stopped, for calls at SYSCALL_AT. Returns 0, or
 * an error with the thread unchanged, and with the reason in ERR as a clause: "it has a seccomp
 * filter". HEAPTAP_NOT_FOUND means that the thread can be borrowed soon. */
int injected_take(const struct memory *m, uint32_t tid, uint64_t syscall_at, struct injected *ret,
                  struct err *err);

/* Make system call NUMBER with ARGUMENTS. Return its result, a negative error number on failure.
 * A process that the call makes is traced, and does not run. */
long injected_call(struct injected *c, long number, const uint64_t arguments[6]);

/* Restore the thread, which stays stopped. */
void injected_give_back(const struct injected *c);

#endif
