/* remote.h: run system calls and functions in a stopped thread of another process. */
#ifndef ATTACH_REMOTE_H
#define ATTACH_REMOTE_H

#include <sched.h>
#include <signal.h>

#include "attach/stop.h"

enum { REMOTE_VECTORS_MAX = 16 << 10 };

/* A borrowed thread, with the state that remote_give_back restores. */
struct remote {
    struct threads *threads; // Its only thread is the borrowed one.
    uint64_t syscall_at;     // Address of a syscall instruction in the process.
    uint64_t call_at;        // Address of the code REMOTE_CALL; 0 = not written yet.
    uint64_t stack_top;      // End of a free stack for calls; a multiple of 16. The result follows.
    uint64_t mask;           // Blocked signals.
    int policy;              // Scheduling policy; negative = not changed.
    struct sched_param parameter;
    size_t vector_bytes;
    bool seccomp_suspended;
    unsigned char vectors[REMOTE_VECTORS_MAX];
};

/* Code that calls the function in rax, stores the result and then a mark above the stack, and waits
 * in the system call pause. A trap at the end would not do: the kernel would reset the program's
 * disposition of SIGTRAP, because the signal is blocked.
 *
 *     call *%rax; mov %rax, 16(%rsp); movl $1, 8(%rsp); 1: mov $34, %eax; syscall; jmp 1b */
#define REMOTE_CALL                                                                                \
    "\xff\xd0\x48\x89\x44\x24\x10\xc7\x44\x24\x08\x01\x00\x00\x00"                                 \
    "\xb8\x22\x00\x00\x00\x0f\x05\xeb\xf7"
#define REMOTE_CALL_BYTES (sizeof REMOTE_CALL - 1)

/* Bytes above the stack of a call, for its result. */
enum { REMOTE_RESULT_BYTES = 64 };

/* Borrow the thread of S, which is stopped. Returns 0, or HEAPTAP_BAD_INPUT with ERR set and the
 * thread unchanged. */
int remote_take(struct remote *r, struct threads *s, struct err *err);

/* Make system call NUMBER. Return its result, a negative error number on failure. */
long remote_syscall(struct remote *r, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                    uint64_t e, uint64_t f);

/* Make system call NUMBER, which undoes an earlier one. Repeat it if it fails: then nothing else
 * could undo the change. Return its last result. */
static inline long
remote_undo(struct remote *r, long number, uint64_t a, uint64_t b)
{
    enum { UNDO_ATTEMPTS = 3 };
    long result = -1;

    for (int i = 0; i < UNDO_ATTEMPTS && result < 0; i++)
        result = remote_syscall(r, number, a, b, 0, 0, 0, 0);
    return result;
}

/* Call FUNCTION without arguments, on the free stack. Return false if it does not come back;
 * *RET_FAULT is then the signal that it raised, or 0. */
bool remote_call(struct remote *r, uint64_t function, long *ret_result, int *ret_fault);

/* Restore the thread. threads_resume then resumes it. */
void remote_give_back(struct remote *r);

#endif
