/* restart_call.c: restart system calls that a stop has interrupted, and bound their timeouts.
 *
 * The kernel restarts most calls itself. Some return EINTR instead (signal(7)), which surprises
 * programs without signal handlers. For these calls we store the result that makes the kernel
 * restart a call unless a handler runs.
 *
 * A restarted call waits for its whole timeout again. Stopped often enough, it would never end. So
 * the first stop stores a mark, the time of that stop. A later stop stores the result of a timeout
 * instead of restarting the call, if a whole timeout has passed since the mark. So no call ends
 * early. The first stop comes within one timeout, the last restart within another, and the call
 * ends within a third. So it takes less than three timeouts.
 *
 * The mark must last as long as the call, and other heaptap processes must find it. It is in the
 * upper half of the register with the call's number. From Linux 5.14 on, the kernel ignores that
 * half, preserves it in a restart, and overwrites it with the result. No register that a program
 * may rely on changes. An earlier kernel refuses such a number. So we first try one in our own
 * process, and use no marks if it fails.
 *
 * Some results cannot be repaired (call_is_fragile). A call that has moved only some bytes returns
 * their number. It cannot be repeated for the rest, because its arguments are in registers that
 * must not change. A close that lingers ends early, and its descriptor is gone.
 *
 * Rejected: a smaller timeout in the argument's register. Code with the call inlined may use the
 * register again, because the kernel promises not to change it. */
#include "image/live_memory.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

// ERESTARTNOHAND_: result, inside the kernel, of a call that the kernel shall restart unless a
// handler runs. CODE_SEGMENT_64: the value of cs in 64-bit mode, where calls have the numbers of
// SYS_*.
enum { ERESTARTNOHAND_ = 514, CODE_SEGMENT_64 = 0x33 };

// Flags of io_uring_enter that make the timeout absolute, or store it elsewhere than in the
// argument.
enum { URING_OTHER_FORMS = 1 << 5 | 1 << 6 };

// A mark is a time in ms modulo MARK_MODULUS; 0 = no mark. Timeouts up to half of that can be
// measured.
#define MARK_MODULUS (INT64_C(1) << 31)
#define MARK_SHIFT 32

#define NO_TIMEOUT INT64_MAX
#define TRY_AGAIN ((unsigned long long)-EAGAIN)

/* Location of a call's timeout. */
enum timeout_kind {
    TIMEOUT_NONE,
    TIMEOUT_MS,       // The argument is the timeout in ms; negative = none.
    TIMEOUT_TIMESPEC, // The argument is the address of a struct timespec; 0 = none.
    TIMEOUT_RECEIVE,  // SO_RCVTIMEO of the socket in the first argument.
    TIMEOUT_SEND,
    TIMEOUT_URING, // The timeout is in a struct io_uring_getevents_arg, if the flags select one.
};

/* Calls that return EINTR and can be repeated, and calls that the kernel restarts with their whole
 * timeout. close, for example, cannot be repeated, because its descriptor is gone. */
static const struct call {
    uint16_t number;
    enum timeout_kind kind;
    size_t argument_at; // Offset in struct user_regs_struct.
    unsigned long long timed_out; // Result of a timeout.
} calls[] = {
    {SYS_read, TIMEOUT_RECEIVE, 0, TRY_AGAIN},
    {SYS_readv, TIMEOUT_RECEIVE, 0, TRY_AGAIN},
    {SYS_accept, TIMEOUT_RECEIVE, 0, TRY_AGAIN},
    {SYS_accept4, TIMEOUT_RECEIVE, 0, TRY_AGAIN},
    {SYS_recvfrom, TIMEOUT_RECEIVE, 0, TRY_AGAIN},
    {SYS_recvmsg, TIMEOUT_RECEIVE, 0, TRY_AGAIN},
    // The timeout argument of this call does not end a wait.
    {SYS_recvmmsg, TIMEOUT_RECEIVE, 0, TRY_AGAIN},
    {SYS_connect, TIMEOUT_SEND, 0, (unsigned long long)-EINPROGRESS},
    {SYS_write, TIMEOUT_SEND, 0, TRY_AGAIN},
    {SYS_writev, TIMEOUT_SEND, 0, TRY_AGAIN},
    {SYS_sendto, TIMEOUT_SEND, 0, TRY_AGAIN},
    {SYS_sendmsg, TIMEOUT_SEND, 0, TRY_AGAIN},
    {SYS_sendmmsg, TIMEOUT_SEND, 0, TRY_AGAIN},
    {SYS_epoll_wait, TIMEOUT_MS, offsetof(struct user_regs_struct, r10), 0},
    {SYS_epoll_pwait, TIMEOUT_MS, offsetof(struct user_regs_struct, r10), 0},
    {SYS_epoll_pwait2, TIMEOUT_TIMESPEC, offsetof(struct user_regs_struct, r10), 0},
    {SYS_semop, TIMEOUT_NONE, 0, 0},
    {SYS_semtimedop, TIMEOUT_TIMESPEC, offsetof(struct user_regs_struct, r10), TRY_AGAIN},
    {SYS_rt_sigtimedwait, TIMEOUT_TIMESPEC, offsetof(struct user_regs_struct, rdx), TRY_AGAIN},
    {SYS_io_getevents, TIMEOUT_TIMESPEC, offsetof(struct user_regs_struct, r8), 0},
    {SYS_io_pgetevents, TIMEOUT_TIMESPEC, offsetof(struct user_regs_struct, r8), 0},
    {SYS_io_uring_enter, TIMEOUT_URING, 0, (unsigned long long)-ETIME},
};

static const struct call *
restart_call_find_call(uint32_t number)
{
    for (size_t i = 0; i < countof(calls); i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

/* Return true if the kernel ignores the upper half of a call's number. */
static bool
can_mark(void)
{
    int64_t result = (INT64_C(1) << MARK_SHIFT) | SYS_getpid;

    __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
    return result == getpid();
}

static int64_t
now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Return SECONDS and NS in ms, rounded up; NO_TIMEOUT if a mark cannot measure it. */
static int64_t
in_ms(int64_t seconds, int64_t ns)
{
    if (seconds < 0 || seconds >= MARK_MODULUS / 2 / 1000 || ns < 0 || ns >= 1000000000)
        return NO_TIMEOUT;
    return seconds * 1000 + (ns + 999999) / 1000000;
}

/* Return the timeout OPTION, SO_RCVTIMEO or SO_SNDTIMEO, of descriptor FD of process PID in ms;
 * NO_TIMEOUT if there is none. */
static int64_t
socket_timeout(uint32_t pid, int fd, int option)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    int copy = process >= 0 ? (int)syscall(SYS_pidfd_getfd, process, fd, 0) : -1;
    struct timeval limit = {0};
    socklen_t bytes = sizeof limit;
    bool known = copy >= 0 && getsockopt(copy, SOL_SOCKET, option, &limit, &bytes) == 0 &&
                 (limit.tv_sec != 0 || limit.tv_usec != 0);

    if (copy >= 0)
        close(copy);
    if (process >= 0)
        close(process);
    return known ? in_ms(limit.tv_sec, (int64_t)limit.tv_usec * 1000) : NO_TIMEOUT;
}

/* Copy SIZE_BYTES at ADDRESS of thread TID to TO. Return false if they cannot be read. */
static bool
read_at(uint32_t tid, uint64_t address, void *to, size_t size_bytes)
{
    struct iovec here = {to, size_bytes}, remote = {(void *)(uintptr_t)address, size_bytes};

    return address != 0 &&
           process_vm_readv((pid_t)tid, &here, 1, &remote, 1, 0) == (ssize_t)size_bytes;
}

/* Return the relative timeout of io_uring_enter in ms; NO_TIMEOUT if there is none. An absolute
 * timeout does not count, because a restart does not extend it. */
static int64_t
uring_timeout(uint32_t tid, const struct user_regs_struct *registers)
{
    struct io_uring_getevents_arg argument;
    struct timespec limit;

    if ((registers->r10 & IORING_ENTER_EXT_ARG) == 0 || (registers->r10 & URING_OTHER_FORMS) != 0 ||
        !read_at(tid, registers->r8, &argument, sizeof argument) ||
        !read_at(tid, argument.ts, &limit, sizeof limit))
        return NO_TIMEOUT;
    return in_ms(limit.tv_sec, limit.tv_nsec);
}

/* Return the timeout of CALL, which thread TID of process PID made, in ms; NO_TIMEOUT if it has
 * none or it cannot be read. */
static int64_t
timeout_ms(const struct call *call, uint32_t pid, uint32_t tid,
           const struct user_regs_struct *registers)
{
    uint64_t argument;
    struct timespec limit;

    memcpy(&argument, (const char *)registers + call->argument_at, sizeof argument);
    switch (call->kind) {
    case TIMEOUT_NONE:
        break;
    case TIMEOUT_MS:
        return (int)argument >= 0 ? (int)argument : NO_TIMEOUT;
    case TIMEOUT_TIMESPEC:
        return read_at(tid, argument, &limit, sizeof limit)
                   ? in_ms(limit.tv_sec, limit.tv_nsec)
                   : NO_TIMEOUT;
    case TIMEOUT_RECEIVE:
        return socket_timeout(pid, (int)registers->rdi, SO_RCVTIMEO);
    case TIMEOUT_SEND:
        return socket_timeout(pid, (int)registers->rdi, SO_SNDTIMEO);
    case TIMEOUT_URING:
        return uring_timeout(tid, registers);
    }
    return NO_TIMEOUT;
}

/* Return a lower bound of the milliseconds since MARK. */
static int64_t
restart_call_since(int64_t mark)
{
    int64_t elapsed = (now_ms() - mark) & (MARK_MODULUS - 1);

    // A mark is rounded up, so it may be later than now.
    return elapsed < MARK_MODULUS / 2 ? elapsed : 0;
}

void
restart_call(uint32_t pid, uint32_t tid, struct user_regs_struct registers)
{
    const struct call *call = restart_call_find_call((uint32_t)registers.orig_rax);
    int64_t timeout, mark = (int64_t)(registers.orig_rax >> MARK_SHIFT);

    if (call == NULL || registers.cs != CODE_SEGMENT_64 ||
        ((int64_t)registers.rax != -EINTR && (int64_t)registers.rax != -ERESTARTNOHAND_))
        return;
    timeout = timeout_ms(call, pid, tid, &registers);
    registers.rax = (uint64_t)-ERESTARTNOHAND_;
    if (mark != 0 && restart_call_since(mark) >= timeout) {
        registers.rax = call->timed_out;
    } else if (mark == 0 && timeout < MARK_MODULUS / 2 && can_mark()) {
        mark = (now_ms() + 1) & (MARK_MODULUS - 1);
        registers.orig_rax |= (uint64_t)(mark != 0 ? mark : 1) << MARK_SHIFT;
    }
    ptrace(PTRACE_SETREGS, tid, NULL, &registers);
}

bool
call_is_fragile(uint64_t number, const uint64_t arguments[6])
{
    switch (number) {
    case SYS_write:
    case SYS_writev:
    case SYS_pwritev2:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_tee:
    case SYS_vmsplice:
    case SYS_close:
    case SYS_dup2:
    case SYS_dup3:
    // After the timeout the call returns EINPROGRESS, but EALREADY after a restart.
    case SYS_connect:
        return true;
    case SYS_recvfrom:
        return (arguments[3] & MSG_WAITALL) != 0;
    case SYS_recvmsg:
        return (arguments[2] & MSG_WAITALL) != 0;
    case SYS_recvmmsg:
        return (arguments[3] & MSG_WAITALL) != 0 ||
               (arguments[2] > 1 && (arguments[3] & MSG_WAITFORONE) == 0);
    // The call returns early after submitting, or with only some of the events.
    case SYS_io_uring_enter:
        return (uint32_t)arguments[1] > 0 || (uint32_t)arguments[2] > 1;
    }
    return false;
}
