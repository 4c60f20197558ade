/* restart_call.h: system calls of another process that stopping it has interrupted. */
#ifndef IMAGE_RESTART_CALL_H
#define IMAGE_RESTART_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

/* Make thread TID of process PID restart a call that our stop interrupted with EINTR, or let the
 * call time out if its timeout has passed. REGISTERS are the thread's. Requires TID to be in a stop
 * caused by PTRACE_INTERRUPT. If a pending signal has a handler, the call still returns EINTR. */
void restart_call(uint32_t pid, uint32_t tid, struct user_regs_struct registers);

/* Return true if a stop may irreparably change the result of the system call NUMBER with
 * ARGUMENTS. */
bool call_is_fragile(uint64_t number, const uint64_t arguments[6]);

#endif
