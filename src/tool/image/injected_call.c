/* injected_call.c: make system calls in a stopped thread of another process.
 *
 * The thread's registers are replaced and restored. Its signals are blocked meanwhile, so no
 * handler of the program runs in between. If the thread was waiting in a system call, its registers
 * say so, and the kernel continues the call when they are restored.
 *
 * A thread with a signal to handle is not borrowed. The signal would stop it in between, and the
 * kernel loses some signals that a tracer passes on later.
 *
 * A thread inside a restartable sequence (rseq) is not borrowed. The kernel would forget the
 * sequence when it sees the instruction pointer outside, and the thread would continue the sequence
 * although another has run on its processor meanwhile.
 *
 * On a busy machine, the others would wait for the borrowed thread. So it gets a real-time policy
 * meanwhile, if we have the right.
 *
 * A seccomp filter of the program would refuse our calls, or kill the process. With CAP_SYS_ADMIN
 * the kernel suspends the filter for the borrowed thread. */
#include "image/injected_call.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#define CALL_NS_MAX UINT64_C(10000000000)
#define FLAG_TRAP      UINT64_C(0x100)
#define FLAG_DIRECTION UINT64_C(0x400)

// Events of ptrace; libc's header lacks the second.
enum { EVENT_CLONE = 3, EVENT_STOP = 128 };
enum { CALL_STOP = SIGTRAP | 0x80 }; // Stop at a system call, with PTRACE_O_TRACESYSGOOD.
enum { GET_RSEQ_CONFIGURATION = 0x420f, RSEQ_SEQUENCE_OFF = 8 };
enum { WAIT_NS = 5000, YIELDS = 50, SIGSET_BYTES = 8, CODE_BYTES = 1 << 16 };

// Stops by a child that the thread makes do not hide that the thread continues.
#define TRACE_OPTIONS (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE)

/* The answer of GET_RSEQ_CONFIGURATION. */
struct rseq_configuration {
    uint64_t address; // The thread's struct rseq; 0 = none.
    uint32_t size_bytes, signature, flags, pad;
};

/* Return the address of a syscall instruction in R, which is code; 0 if there is none. */
static uint64_t
find_call_in(const struct memory *m, const struct memory_region *r)
{
    unsigned char *code = xmalloc(CODE_BYTES);
    uint64_t found = 0, at = r->start;

    while (found == 0 && at < r->end) {
        size_t got = memory_read(m, at, code,
                                 r->end - at < CODE_BYTES ? (size_t)(r->end - at) : CODE_BYTES);

        for (size_t i = 0; found == 0 && i + 1 < got; i++)
            if (code[i] == 0x0f && code[i + 1] == 0x05)
                found = at + i;
        if (got < CODE_BYTES)
            break;
        at += got - 1; // The instruction may lie across the end.
    }
    free(code);
    return found;
}

uint64_t
injected_find_call(const struct memory *m)
{
    // Any will do, even within another instruction. The vdso is small and near the end.
    for (size_t i = m->region_count; i-- > 0;) {
        const struct memory_region *r = &m->regions[i];
        uint64_t at = r->access & MEMORY_EXECUTE && r->access & MEMORY_READ ? find_call_in(m, r)
                                                                            : 0;

        if (at != 0)
            return at;
    }
    return 0;
}

/* Return true if thread TID of M may be inside a restartable sequence. */
static bool
is_in_sequence(const struct memory *m, uint32_t tid)
{
    struct rseq_configuration c = {0};
    uint64_t sequence;

    return ptrace((enum __ptrace_request)GET_RSEQ_CONFIGURATION, tid, sizeof c, &c) > 0 &&
           c.address != 0 &&
           (!memory_word(m, c.address + RSEQ_SEQUENCE_OFF, sizeof sequence, &sequence) ||
            sequence != 0);
}

/* Return the number in BASE behind KEY in thread TID's "status"; 0 if there is none. */
static uint64_t
thread_status(const struct memory *m, uint32_t tid, const char *key, int base)
{
    char path[64], line[256];
    uint64_t value = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%" PRIu32 "/status", m->pid, tid);
    f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtoull(line + strlen(key), NULL, base);
    if (f != NULL)
        fclose(f);
    return value;
}

/* Return the signals of faults. The kernel would reset their dispositions if they were blocked when
 * a fault occurs. */
static uint64_t
faults(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    uint64_t set = 0;

    for (size_t i = 0; i < countof(numbers); i++)
        set |= UINT64_C(1) << (numbers[i] - 1);
    return set;
}

/* Let the borrowed thread run before all others that have no real-time policy. */
static void
hurry(struct injected *c)
{
    const struct sched_param first = {.sched_priority = 1};
    pid_t tid = (pid_t)c->tid;

    c->policy = sched_getscheduler(tid);
    if (sched_getparam(tid, &c->parameter) != 0 ||
        (c->policy != SCHED_OTHER && c->policy != SCHED_BATCH && c->policy != SCHED_IDLE) ||
        sched_setscheduler(tid, SCHED_RR, &first) != 0)
        c->policy = -1;
}

int
injected_take(const struct memory *m, uint32_t tid, uint64_t syscall_at, struct injected *ret,
              struct err *err)
{
    uint64_t all = UINT64_MAX & ~faults(), code = 0;

    *ret = (struct injected){.tid = tid, .syscall_at = syscall_at};
    if (!memory_word(m, syscall_at, 2, &code) || code != 0x050f)
        return err_set(err, HEAPTAP_BAD_INPUT, "its code has changed");
    if (is_in_sequence(m, tid))
        return err_set(err, HEAPTAP_NOT_FOUND, "its threads are in restartable sequences");
    if (thread_status(m, tid, "SigPnd:", 16) != 0 ||
        (thread_status(m, tid, "ShdPnd:", 16) & faults()) != 0)
        return err_set(err, HEAPTAP_NOT_FOUND, "its threads have signals to handle");
    if (ptrace(PTRACE_GETREGS, tid, NULL, &ret->registers) != 0 ||
        ptrace(PTRACE_GETSIGMASK, tid, SIGSET_BYTES, &ret->mask) != 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "its thread %" PRIu32 " cannot be borrowed", tid);
    if (ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)(PTRACE_O_SUSPEND_SECCOMP | TRACE_OPTIONS)) !=
        0) {
        if (thread_status(m, tid, "Seccomp:", 10) != 0)
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "it has a seccomp filter, which only the capability SYS_ADMIN can "
                           "suspend");
        ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)TRACE_OPTIONS);
    }
    if (ptrace(PTRACE_SETSIGMASK, tid, SIGSET_BYTES, &all) != 0) {
        ptrace(PTRACE_SETOPTIONS, tid, NULL, NULL);
        return err_errno(err, HEAPTAP_BAD_INPUT, "its thread %" PRIu32 " cannot be borrowed", tid);
    }
    hurry(ret);
    return 0;
}

void
injected_give_back(const struct injected *c)
{
    ptrace(PTRACE_SETREGS, c->tid, NULL, &c->registers);
    ptrace(PTRACE_SETSIGMASK, c->tid, SIGSET_BYTES, &c->mask);
    ptrace(PTRACE_SETOPTIONS, c->tid, NULL, NULL);
    if (c->policy >= 0)
        sched_setscheduler((pid_t)c->tid, c->policy, &c->parameter);
}

static uint64_t
injected_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Wait for the next stop. Return its signal, with the event above bit 8; negative if the thread has
 * ended or does not stop. */
static int
await(const struct injected *c)
{
    static const struct timespec pause_time = {.tv_nsec = WAIT_NS};
    uint64_t deadline_ns = injected_now_ns() + CALL_NS_MAX;
    int status;

    for (int i = 0;; i++) {
        pid_t got = waitpid((pid_t)c->tid, &status, __WALL | WNOHANG);

        if (got > 0 && WIFSTOPPED(status))
            return status >> 16 << 8 | WSTOPSIG(status);
        if (got != 0 || injected_now_ns() > deadline_ns)
            return -1;
        if (i < YIELDS)
            sched_yield();
        else
            nanosleep(&pause_time, NULL);
    }
}

/* Let the thread run to the next stop at a system call. Return false if there is none. */
static bool
run_to_call(struct injected *c)
{
    for (;;) {
        unsigned long child = 0;
        siginfo_t info;
        int stop;

        if (ptrace(PTRACE_SYSCALL, c->tid, NULL, NULL) != 0)
            return false;
        stop = await(c);
        if (stop < 0 || stop == CALL_STOP)
            return stop == CALL_STOP;
        if (stop >> 8 == EVENT_CLONE) {
            if (ptrace(PTRACE_GETEVENTMSG, c->tid, NULL, &child) == 0)
                c->child = (uint32_t)child;
        } else if (stop >> 8 != EVENT_STOP) {
            // A fault that nobody has sent is our own.
            if (ptrace(PTRACE_GETSIGINFO, c->tid, NULL, &info) != 0 || info.si_code > 0)
                return false;
            c->pending = (uint32_t)(stop & 0xff);
        }
    }
}

long
injected_call(struct injected *c, long number, const uint64_t arguments[6])
{
    struct user_regs_struct r = c->registers;

    r.rip = c->syscall_at;
    r.rax = (uint64_t)number;
    r.orig_rax = UINT64_MAX; // There is no call to continue.
    r.eflags &= ~(FLAG_TRAP | FLAG_DIRECTION);
    r.rdi = arguments[0];
    r.rsi = arguments[1];
    r.rdx = arguments[2];
    r.r10 = arguments[3];
    r.r8 = arguments[4];
    r.r9 = arguments[5];
    c->child = 0;
    // The first stop is at the beginning of the call, the second at its end.
    if (ptrace(PTRACE_SETREGS, c->tid, NULL, &r) != 0 || !run_to_call(c) || !run_to_call(c) ||
        ptrace(PTRACE_GETREGS, c->tid, NULL, &r) != 0)
        return -EFAULT;
    return (long)r.rax;
}
