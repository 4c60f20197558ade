/* injected_call.c: make system calls in a stopped thread of another process.
 *
 * The thread's registers are replaced and restored. Its signals are blocked meanwhile, so no
 * handler of the program runs in between. If the thread was waiting in a system call, its registers
 * say so, and the kernel continues the call when they are restored.
 *
 * If we are killed, the kernel resumes the thread in the middle of a call. So two frames lie below
 * its stack, like those that the kernel makes for signal handlers: the call returns to the end of a
 * handler, which restores all registers and the mask. A child made by the call has the second
 * frame, by which it ends at once. This loses floating-point registers, but a thread that waits in
 * a system call has none that matter.
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
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#define CALL_NS_MAX UINT64_C(10000000000)
#define FLAG_TRAP      UINT64_C(0x100)
#define FLAG_DIRECTION UINT64_C(0x400)

// Events of ptrace; libc's header lacks the second.
enum { EVENT_CLONE = 3, EVENT_STOP = 128 };
enum { CALL_STOP = SIGTRAP | 0x80 }; // Stop at a system call, with PTRACE_O_TRACESYSGOOD.
enum { GET_RSEQ_CONFIGURATION = 0x420f, RSEQ_SEQUENCE_OFF = 8 };
enum { WAIT_NS = 5000, YIELDS = 50, SIGSET_BYTES = 8, CODE_BYTES = 1 << 16 };
enum { RED_ZONE_BYTES = 128, MAIN_STACK_BYTES = 64 << 10 };

// Results of interrupted calls inside the kernel: the first and the last that ask for a restart.
enum { ERESTARTSYS_ = 512, ERESTART_RESTARTBLOCK_ = 516 };

// Stops by a child that the thread makes do not hide that the thread continues.
#define TRACE_OPTIONS (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE)

/* The answer of GET_RSEQ_CONFIGURATION. */
struct rseq_configuration {
    uint64_t address; // The thread's struct rseq; 0 = none.
    uint32_t size_bytes, signature, flags, pad;
};

// Code to look for: "syscall; ret", and "mov $15, %rax; syscall", where handlers return to.
static const unsigned char call_code[] = {0x0f, 0x05, 0xc3};
static const unsigned char return_code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

/* Return the address of the SIZE_BYTES of CODE in the COUNT BYTES at START; 0 if they lack it. */
static uint64_t
find_bytes(const unsigned char *bytes, size_t count, uint64_t start, const unsigned char *code,
           size_t size_bytes)
{
    const unsigned char *at = memmem(bytes, count, code, size_bytes);

    return at != NULL ? start + (uint64_t)(at - bytes) : 0;
}

/* Look for code in R that *RET lacks. */
static void
find_code_in(const struct memory *m, const struct memory_region *r, struct injected_code *ret)
{
    unsigned char *code = xmalloc(CODE_BYTES);
    uint64_t at = r->start;

    while ((ret->call_at == 0 || ret->return_at == 0) && at < r->end) {
        size_t got = memory_read(m, at, code,
                                 r->end - at < CODE_BYTES ? (size_t)(r->end - at) : CODE_BYTES);

        if (ret->call_at == 0)
            ret->call_at = find_bytes(code, got, at, call_code, sizeof call_code);
        if (ret->return_at == 0)
            ret->return_at = find_bytes(code, got, at, return_code, sizeof return_code);
        if (got < CODE_BYTES)
            break;
        at += got - sizeof return_code; // The code may lie across the end.
    }
    free(code);
}

bool
injected_find_code(const struct memory *m, struct injected_code *ret)
{
    *ret = (struct injected_code){0};
    // Any bytes will do, even within other instructions. The C library is near the end.
    for (size_t i = m->region_count; i-- > 0 && (ret->call_at == 0 || ret->return_at == 0);) {
        const struct memory_region *r = &m->regions[i];

        if (r->access & MEMORY_EXECUTE && r->access & MEMORY_READ)
            find_code_in(m, r, ret);
    }
    return ret->call_at != 0 && ret->return_at != 0;
}

/* Return true if M still has CODE. */
static bool
has_code(const struct memory *m, const struct injected_code *code)
{
    unsigned char call[sizeof call_code], end[sizeof return_code];

    return memory_read(m, code->call_at, call, sizeof call) == sizeof call &&
           memory_read(m, code->return_at, end, sizeof end) == sizeof end &&
           memcmp(call, call_code, sizeof call) == 0 && memcmp(end, return_code, sizeof end) == 0;
}

/* --- Frames -------------------------------------------------------------------------------- */

/* Stack of a signal handler when it returns, as the kernel expects it. */
struct injected_frame {
    uint64_t return_at;
    ucontext_t context;
};

/* Return the frame that gives a thread REGISTERS and the blocked signals MASK. */
static struct injected_frame
frame_of(const struct injected_code *code, const struct user_regs_struct *registers, uint64_t mask)
{
    struct injected_frame f = {.return_at = code->return_at};
    greg_t *g = f.context.uc_mcontext.gregs;
    const struct user_regs_struct *r = registers;
    long long result = (long long)r->rax;

    // The kernel ignores this stack for signals, because its flags are invalid, and keeps the old.
    f.context.uc_stack.ss_flags = 0xff;
    memcpy(&f.context.uc_sigmask, &mask, sizeof mask);
    g[REG_R8] = (greg_t)r->r8;
    g[REG_R9] = (greg_t)r->r9;
    g[REG_R10] = (greg_t)r->r10;
    g[REG_R11] = (greg_t)r->r11;
    g[REG_R12] = (greg_t)r->r12;
    g[REG_R13] = (greg_t)r->r13;
    g[REG_R14] = (greg_t)r->r14;
    g[REG_R15] = (greg_t)r->r15;
    g[REG_RDI] = (greg_t)r->rdi;
    g[REG_RSI] = (greg_t)r->rsi;
    g[REG_RBP] = (greg_t)r->rbp;
    g[REG_RBX] = (greg_t)r->rbx;
    g[REG_RDX] = (greg_t)r->rdx;
    g[REG_RAX] = (greg_t)r->rax;
    g[REG_RCX] = (greg_t)r->rcx;
    g[REG_RSP] = (greg_t)r->rsp;
    g[REG_RIP] = (greg_t)r->rip;
    g[REG_EFL] = (greg_t)r->eflags;
    g[REG_CSGSFS] = (greg_t)(r->cs | r->ss << 48);
    // Nobody restarts an interrupted call at that point, so the thread makes it again.
    if (r->orig_rax != UINT64_MAX && result <= -ERESTARTSYS_ && result >= -ERESTART_RESTARTBLOCK_) {
        g[REG_RAX] = (greg_t)(r->orig_rax & UINT32_MAX);
        g[REG_RIP] = (greg_t)(r->rip - 2);
    }
    return f;
}

/* Write SIZE_BYTES at ADDRESS of the process of thread TID. */
static bool
write_remote(uint32_t tid, uint64_t address, const void *bytes, size_t size_bytes)
{
    struct iovec here = {(void *)(uintptr_t)bytes, size_bytes};
    struct iovec remote = {(void *)(uintptr_t)address, size_bytes};

    return process_vm_writev((pid_t)tid, &here, 1, &remote, 1, 0) == (ssize_t)size_bytes;
}

/* Return true if the memory below the stack pointer SP of a thread of M surely is stack. */
static bool
is_main_stack(const struct memory *m, uint64_t sp)
{
    const struct memory_region *r = memory_region_at(m, sp);

    return r != NULL && r->start == m->first_stack && sp - r->start > MAIN_STACK_BYTES;
}

/* Write the frames of C below its stack, and save the bytes there. Other threads might use the
 * bytes, if the stack is a small block of theirs, so all are stopped, or there are no frames. */
static void
write_frames(const struct memory *m, struct injected *c, bool alone)
{
    struct user_regs_struct end = c->registers;
    struct {
        struct injected_frame own, child;
    } frames;
    uint64_t at = (c->registers.rsp - RED_ZONE_BYTES - sizeof frames) & ~UINT64_C(15);

    static_assert(sizeof frames <= INJECTED_BELOW_BYTES, "the frames can be saved");
    c->below_at = c->child_stack = 0;
    if ((!alone && !is_main_stack(m, c->registers.rsp)) ||
        memory_read(m, at, c->below, sizeof frames) != sizeof frames)
        return;
    end.rip = c->code.call_at;
    end.rax = SYS_exit_group;
    end.rdi = 0;
    end.orig_rax = UINT64_MAX;
    frames.own = frame_of(&c->code, &c->registers, c->mask);
    frames.child = frame_of(&c->code, &end, c->mask);
    if (!write_remote(c->tid, at, &frames, sizeof frames))
        return;
    c->below_at = at;
    c->below_bytes = sizeof frames;
    c->child_stack = at + offsetof(typeof(frames), child);
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

/* Give the thread of C the registers for system call NUMBER with ARGUMENTS. */
static bool
prepare(const struct injected *c, long number, const uint64_t arguments[6])
{
    struct user_regs_struct r = c->registers;

    r.rip = c->code.call_at;
    r.rax = (uint64_t)number;
    r.orig_rax = UINT64_MAX; // There is no call to continue.
    r.eflags &= ~(FLAG_TRAP | FLAG_DIRECTION);
    r.rdi = arguments[0];
    r.rsi = arguments[1];
    r.rdx = arguments[2];
    r.r10 = arguments[3];
    r.r8 = arguments[4];
    r.r9 = arguments[5];
    if (c->below_at != 0)
        r.rsp = c->below_at;
    return ptrace(PTRACE_SETREGS, c->tid, NULL, &r) == 0;
}

int
injected_take(const struct memory *m, uint32_t tid, const struct injected_code *code, bool alone,
              struct injected *ret, struct err *err)
{
    uint64_t all = UINT64_MAX & ~faults();

    *ret = (struct injected){.tid = tid, .code = *code, .policy = -1};
    if (!has_code(m, code))
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
    write_frames(m, ret, alone);
    // From here on the thread restores itself if we die.
    if (!prepare(ret, SYS_getpid, (const uint64_t[6]){0}) ||
        ptrace(PTRACE_SETSIGMASK, tid, SIGSET_BYTES, &all) != 0) {
        injected_give_back(ret);
        return err_errno(err, HEAPTAP_BAD_INPUT, "its thread %" PRIu32 " cannot be borrowed", tid);
    }
    hurry(ret);
    return 0;
}

void
injected_give_back(const struct injected *c)
{
    ptrace(PTRACE_SETSIGMASK, c->tid, SIGSET_BYTES, &c->mask);
    ptrace(PTRACE_SETREGS, c->tid, NULL, &c->registers);
    if (c->below_at != 0)
        write_remote(c->tid, c->below_at, c->below, c->below_bytes);
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
    struct user_regs_struct r;

    c->child = 0;
    // The first stop is at the beginning of the call, the second at its end.
    if (!prepare(c, number, arguments) || !run_to_call(c) || !run_to_call(c) ||
        ptrace(PTRACE_GETREGS, c->tid, NULL, &r) != 0)
        return -EFAULT;
    return (long)r.rax;
}
