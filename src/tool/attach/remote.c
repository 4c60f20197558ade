/* remote.c: run system calls and functions in a stopped thread of another process.
 *
 * A borrowed thread keeps its stack: calls run on a separate one. Its signals are blocked
 * meanwhile, so no handler of the program runs in between. If the thread was waiting in a system
 * call, its registers say so, and the kernel continues the call when they are restored.
 *
 * On a busy machine, the others would wait for the borrowed thread. So it gets a real-time policy
 * meanwhile, if we have the right.
 *
 * A seccomp filter of the program would refuse our calls, or kill the process. With CAP_SYS_ADMIN
 * the kernel suspends the filter for the borrowed thread. */
#include "attach/remote.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALL_NS_MAX UINT64_C(10000000000)
#define FLAG_TRAP      UINT64_C(0x100)
#define FLAG_DIRECTION UINT64_C(0x400)

enum { EVENT_STOP = 128 };          // PTRACE_EVENT_STOP, which libc's header lacks.
enum { CALL_STOP = SIGTRAP | 0x80 }; // Stop at a system call, with PTRACE_O_TRACESYSGOOD.
enum { WAIT_NS = 5000, YIELDS = 50, SIGSET_BYTES = 8, CODE_BYTES = 1 << 16 };

/* Where a call stores its mark and its result, above the stack. */
enum { MARK_OFF = 8, RESULT_OFF = 16 };

static uint32_t
remote_tid(const struct remote *r)
{
    return r->threads->v[0].tid;
}

/* Return the address of a syscall instruction in MAP, which is code; 0 if there is none. */
static uint64_t
find_syscall_in(const struct target *t, const struct target_map *map)
{
    static unsigned char code[CODE_BYTES];

    for (uint64_t at = map->start; at < map->end;) {
        size_t wanted = map->end - at < sizeof code ? map->end - at : sizeof code;
        size_t got = target_read_some(t, at, code, wanted);

        for (size_t i = 0; i + 1 < got; i++)
            if (code[i] == 0x0f && code[i + 1] == 0x05)
                return at + i;
        if (got < 2)
            break;
        at += got - 1; // The instruction may lie across the end.
        if (got < wanted || wanted < sizeof code)
            break;
    }
    return 0;
}

/* Find a syscall instruction: any will do, even within another instruction. */
static uint64_t
find_syscall(const struct target *t)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < t->map_count; i++) {
            const struct target_map *map = &t->maps[i];
            bool is_vdso = strcmp(map->path, "[vdso]") == 0;
            uint64_t at;

            if ((map->access & TARGET_EXECUTE) == 0 || is_vdso != (pass == 0) ||
                strcmp(map->path, "[vsyscall]") == 0)
                continue;
            at = find_syscall_in(t, map);
            if (at != 0)
                return at;
        }
    }
    return 0;
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
hurry(struct remote *r)
{
    const struct sched_param first = {.sched_priority = 1};
    pid_t tid = (pid_t)remote_tid(r);

    r->policy = sched_getscheduler(tid);
    if (sched_getparam(tid, &r->parameter) != 0 ||
        (r->policy != SCHED_OTHER && r->policy != SCHED_BATCH && r->policy != SCHED_IDLE) ||
        sched_setscheduler(tid, SCHED_RR, &first) != 0)
        r->policy = -1;
}

static void
stop_hurrying(const struct remote *r)
{
    if (r->policy >= 0)
        sched_setscheduler((pid_t)remote_tid(r), r->policy, &r->parameter);
}

int
remote_take(struct remote *r, struct threads *s, struct err *err)
{
    uint32_t tid = s->v[0].tid;
    uint64_t all = UINT64_MAX & ~faults();
    struct iovec vectors;

    *r = (struct remote){.threads = s};
    vectors = (struct iovec){r->vectors, sizeof r->vectors};
    r->syscall_at = find_syscall(s->target);
    if (r->syscall_at == 0)
        return err_set(err, HEAPTAP_BAD_INPUT, "process %u has no code that makes system calls",
                       s->target->pid);
    if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_X86_XSTATE, &vectors) != 0 ||
        ptrace(PTRACE_GETSIGMASK, tid, SIGSET_BYTES, &r->mask) != 0 ||
        ptrace(PTRACE_SETSIGMASK, tid, SIGSET_BYTES, &all) != 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot borrow thread %u of process %u", tid,
                         s->target->pid);
    r->vector_bytes = vectors.iov_len;
    hurry(r);
    r->seccomp_suspended =
        ptrace(PTRACE_SETOPTIONS, tid, NULL,
               (void *)(PTRACE_O_SUSPEND_SECCOMP | PTRACE_O_TRACESYSGOOD)) == 0;
    if (!r->seccomp_suspended)
        ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD);
    if (s->target->is_filtered && !r->seccomp_suspended) {
        ptrace(PTRACE_SETSIGMASK, tid, SIGSET_BYTES, &r->mask);
        ptrace(PTRACE_SETOPTIONS, tid, NULL, NULL);
        stop_hurrying(r);
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u has a seccomp filter, which only a process with the capability "
                       "SYS_ADMIN can suspend; run heaptap as root", s->target->pid);
    }
    return 0;
}

void
remote_give_back(struct remote *r)
{
    struct iovec vectors = {r->vectors, r->vector_bytes};
    uint32_t tid = remote_tid(r);

    ptrace(PTRACE_SETREGSET, tid, (void *)NT_X86_XSTATE, &vectors);
    ptrace(PTRACE_SETREGS, tid, NULL, &r->threads->v[0].registers);
    ptrace(PTRACE_SETSIGMASK, tid, SIGSET_BYTES, &r->mask);
    ptrace(PTRACE_SETOPTIONS, tid, NULL, NULL);
    stop_hurrying(r);
}

/* Wait shortly, for the I-th time. */
static void
wait_shortly(int i)
{
    static const struct timespec pause_time = {.tv_nsec = WAIT_NS};

    if (i < YIELDS)
        sched_yield();
    else
        nanosleep(&pause_time, NULL);
}

/* Wait for the next stop. Return its signal, with the event above bit 8; negative if the thread has
 * ended or does not stop. */
static int
await(const struct remote *r)
{
    uint64_t deadline_ns = threads_now_ns() + CALL_NS_MAX;
    int status;

    for (int i = 0;; i++) {
        pid_t got = waitpid((pid_t)remote_tid(r), &status, __WALL | WNOHANG);

        if (got > 0 && WIFSTOPPED(status))
            return status >> 16 << 8 | WSTOPSIG(status);
        if (got != 0 || threads_now_ns() > deadline_ns)
            return -1;
        wait_shortly(i);
    }
}

/* Return true if the signal NUMBER, at which the thread has stopped, was sent by somebody. Keep it
 * for the end then. */
static bool
was_sent(const struct remote *r, int number)
{
    siginfo_t info;

    if (ptrace(PTRACE_GETSIGINFO, remote_tid(r), NULL, &info) != 0 || info.si_code > 0)
        return false;
    r->threads->v[0].pending = (uint32_t)number;
    return true;
}

/* Let the thread run to the next stop at a system call. Return 0; the signal of another stop; or a
 * negative number if there is none. */
static int
run_to_call(const struct remote *r)
{
    for (;;) {
        int stop;

        if (ptrace(PTRACE_SYSCALL, remote_tid(r), NULL, NULL) != 0)
            return -1;
        stop = await(r);
        if (stop < 0 || stop == CALL_STOP)
            return stop < 0 ? -1 : 0;
        if (stop >> 8 != EVENT_STOP && !was_sent(r, stop & 0xff))
            return stop & 0xff;
    }
}

long
remote_syscall(struct remote *r, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
               uint64_t e, uint64_t f)
{
    struct user_regs_struct registers = r->threads->v[0].registers;
    uint32_t tid = remote_tid(r);

    registers.rip = r->syscall_at;
    registers.rax = (uint64_t)number;
    registers.orig_rax = UINT64_MAX; // There is no call to continue.
    registers.eflags &= ~(FLAG_TRAP | FLAG_DIRECTION);
    registers.rdi = a;
    registers.rsi = b;
    registers.rdx = c;
    registers.r10 = d;
    registers.r8 = e;
    registers.r9 = f;
    // The first stop is at the beginning of the call, the second at its end.
    if (ptrace(PTRACE_SETREGS, tid, NULL, &registers) != 0 || run_to_call(r) != 0 ||
        run_to_call(r) != 0 || ptrace(PTRACE_GETREGS, tid, NULL, &registers) != 0)
        return -EFAULT;
    return (long)registers.rax;
}

/* Wait until the function that the thread is running has returned. Return 0; the signal of a fault;
 * or a negative number if neither happens. */
static int
await_result(const struct remote *r)
{
    const struct target *t = r->threads->target;
    uint64_t deadline_ns = threads_now_ns() + CALL_NS_MAX;
    uint32_t tid = remote_tid(r), mark = 0;
    int status;

    for (int i = 0; mark == 0; i++) {
        pid_t got = waitpid((pid_t)tid, &status, __WALL | WNOHANG);

        if (got > 0 && WIFSTOPPED(status) && status >> 16 == 0 && !was_sent(r, WSTOPSIG(status)))
            return WSTOPSIG(status);
        if (got > 0 && WIFSTOPPED(status) && ptrace(PTRACE_CONT, tid, NULL, NULL) != 0)
            return -1;
        if (got < 0 || (got > 0 && !WIFSTOPPED(status)) || threads_now_ns() > deadline_ns ||
            !target_read(t, r->stack_top + MARK_OFF, &mark, sizeof mark))
            return -1;
        wait_shortly(i);
    }
    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
    return await(r) >> 8 == EVENT_STOP ? 0 : -1;
}

bool
remote_call(struct remote *r, uint64_t function, long *ret_result, int *ret_fault)
{
    struct user_regs_struct registers = r->threads->v[0].registers;
    const struct target *t = r->threads->target;
    uint32_t tid = remote_tid(r), mark = 0;
    int stop = -1;

    registers.rip = r->call_at;
    registers.rax = function;
    registers.orig_rax = UINT64_MAX;
    registers.rsp = r->stack_top;
    registers.eflags &= ~(FLAG_TRAP | FLAG_DIRECTION);
    if (target_write(t, r->stack_top + MARK_OFF, &mark, sizeof mark) &&
        ptrace(PTRACE_SETREGS, tid, NULL, &registers) == 0 &&
        ptrace(PTRACE_CONT, tid, NULL, NULL) == 0)
        stop = await_result(r);
    *ret_result = (long)target_word(t, r->stack_top + RESULT_OFF);
    *ret_fault = stop > 0 ? stop : 0;
    return stop == 0;
}
