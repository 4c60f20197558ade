/* injected_call.h: make system calls in a stopped thread of another process. */
#ifndef IMAGE_INJECTED_CALL_H
#define IMAGE_INJECTED_CALL_H

#include <sched.h>
#include <sys/user.h>

#include "image/memory.h"

/* Code of the process that calls use; 0 = none. */
struct injected_code {
    uint64_t call_at;   // A syscall instruction, followed by a return.
    uint64_t return_at; // The end of a signal handler: it calls rt_sigreturn.
};

enum { INJECTED_BELOW_BYTES = 2560 };

/* A borrowed thread, with the state that injected_give_back restores. */
struct injected {
    uint32_t tid;
    uint32_t pending; // Signal that somebody sent meanwhile, for when the thread is resumed.
    uint32_t child;   // Process that the last call has made and that is traced; 0 = none.
    struct injected_code code;
    uint64_t mask; // Blocked signals.
    // Memory below the stack that the frames replace; 0 = there are none.
    uint64_t below_at;
    size_t below_bytes;
    unsigned char below[INJECTED_BELOW_BYTES];
    uint64_t child_stack; // Where a process that a call makes shall have its stack; 0 = no frames.
    int policy;          // Scheduling policy; negative = not changed.
    struct sched_param parameter;
    struct user_regs_struct registers;
};

/* Find code in M for calls. Return false if there is none. May read much memory. */
bool injected_find_code(const struct memory *m, struct injected_code *ret);

/* Borrow thread TID of M, which we have stopped, for calls by CODE. ALONE means that all other
 * threads are stopped as well. Returns 0, or an error with the thread unchanged, and with the
 * reason in ERR as a clause: "it has a seccomp filter". HEAPTAP_NOT_FOUND means that the thread can
 * be borrowed soon. */
int injected_take(const struct memory *m, uint32_t tid, const struct injected_code *code,
                  bool alone, struct injected *ret, struct err *err);

/* Make system call NUMBER with ARGUMENTS. Return its result, a negative error number on failure.
 * A process that the call makes is traced, and does not run. */
long injected_call(struct injected *c, long number, const uint64_t arguments[6]);

/* Restore the thread, which stays stopped. */
void injected_give_back(const struct injected *c);

#endif
