/* remote.c: run system calls and functions in a stopped thread of another process.
 *
 * A borrowed thread keeps its stack: calls run on a separate one. All its signals are blocked
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
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALL_NS_MAX UINT64_C(10000000000)
#define FLAG_TRAP      UINT64_C(0x100)
#define FLAG_DIRECTION UINT64_C(0x400)

enum { EVENT_STOP = 128 }; // PTRACE_EVENT_STOP, which libc's header lacks.
enum { WAIT_NS = 5000, SIGSET_BYTES = 8, SYSCALL_BYTES = 2, CODE_BYTES = 1 << 16 };

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
    uint64_t all = UINT64_MAX;
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
        ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)PTRACE_O_SUSPEND_SECCOMP) == 0;
    if (s->target->is_filtered && !r->seccomp_suspended) {
        ptrace(PTRACE_SETSIGMASK, tid, SIGSET_BYTES, &r->mask);
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
    if (r->seccomp_suspended)
        ptrace(PTRACE_SETOPTIONS, tid, NULL, NULL);
    stop_hurrying(r);
}

/* Wait for the next stop. Return its signal, with the event above bit 8; negative if the thread has
 * ended or does not stop. */
static int
await(const struct remote *r)
{
    uint64_t deadline_ns = threads_now_ns() + CALL_NS_MAX;
    static const struct timespec pause = {.tv_nsec = WAIT_NS};
    int status;

    for (;;) {
        pid_t got = waitpid((pid_t)remote_tid(r), &status, __WALL | WNOHANG);

        if (got > 0 && WIFSTOPPED(status))
            return status >> 16 << 8 | WSTOPSIG(status);
        if (got != 0 || threads_now_ns() > deadline_ns)
            return -1;
        nanosleep(&pause, NULL);
    }
}

/* Let the thread run from REGISTERS by REQUEST until it traps at END. Store its registers in
 * *REGISTERS. Return 0; the signal of another stop; or a negative number if there is none. */
static int
run_to(const struct remote *r, int request, struct user_regs_struct *registers, uint64_t end)
{
    uint32_t tid = remote_tid(r);

    if (ptrace(PTRACE_SETREGS, tid, NULL, registers) != 0)
        return -1;
    for (;;) {
        int stop;

        if (ptrace((enum __ptrace_request)request, tid, NULL, NULL) != 0)
            return -1;
        stop = await(r);
        if (stop < 0 || ptrace(PTRACE_GETREGS, tid, NULL, registers) != 0)
            return -1;
        if (stop == SIGTRAP && registers->rip == end)
            return 0;
        if (stop >> 8 != EVENT_STOP)
            return stop & 0xff;
    }
}

long
remote_syscall(struct remote *r, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
               uint64_t e, uint64_t f)
{
    struct user_regs_struct registers = r->threads->v[0].registers;
    int stop;

    registers.rip = r->syscall_at;
    registers.rax = (uint64_t)number;
    registers.orig_rax = UINT64_MAX; // There is no call to continue.
    registers.rdi = a;
    registers.rsi = b;
    registers.rdx = c;
    registers.r10 = d;
    registers.r8 = e;
    registers.r9 = f;
    stop = run_to(r, PTRACE_SINGLESTEP, &registers, r->syscall_at + SYSCALL_BYTES);
    return stop == 0 ? (long)registers.rax : -EFAULT;
}

bool
remote_call(struct remote *r, uint64_t function, long *ret_result, int *ret_fault)
{
    struct user_regs_struct registers = r->threads->v[0].registers;
    int stop;

    registers.rip = r->call_at;
    registers.rax = function;
    registers.orig_rax = UINT64_MAX;
    registers.rsp = r->stack_top;
    registers.eflags &= ~(FLAG_TRAP | FLAG_DIRECTION);
    stop = run_to(r, PTRACE_CONT, &registers, r->call_at + REMOTE_CALL_BYTES);
    *ret_result = (long)registers.rax;
    *ret_fault = stop > 0 ? stop : 0;
    return stop == 0;
}

/* Memory in the process for a call of recvmsg that receives a descriptor. */
struct received {
    struct msghdr head;
    struct iovec data;
    char byte[8];
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
};

/* Send FD over SOCKET. Return 0, or a negative error number. */
static int
send_file(int socket, int fd)
{
    char byte = 0;
    struct iovec data = {&byte, 1};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {0};
    struct msghdr head = {.msg_iov = &data,
                          .msg_iovlen = 1,
                          .msg_control = control,
                          .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&head);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    return sendmsg(socket, &head, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Return a copy of descriptor FD of process PID, or a negative error number. */
static int
copy_descriptor(uint32_t pid, int fd)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    int copy = process >= 0 ? (int)syscall(SYS_pidfd_getfd, process, fd, 0) : -1;
    int error = errno;

    if (process >= 0)
        close(process);
    return copy >= 0 ? copy : -error;
}

/* Receive a descriptor from SOCKET in the process. Return it, or a negative error number. */
static int
receive_file(struct remote *r, int socket, uint64_t scratch)
{
    const struct target *t = r->threads->target;
    struct received message = {0};
    struct cmsghdr *c;
    long result;
    int fd;

    message.head.msg_iov = (struct iovec *)(uintptr_t)(scratch + offsetof(struct received, data));
    message.head.msg_iovlen = 1;
    message.head.msg_control = (void *)(uintptr_t)(scratch + offsetof(struct received, control));
    message.head.msg_controllen = sizeof message.control;
    message.data.iov_base = (void *)(uintptr_t)(scratch + offsetof(struct received, byte));
    message.data.iov_len = 1;
    if (!target_write(t, scratch, &message, sizeof message))
        return -EFAULT;
    result = remote_syscall(r, SYS_recvmsg, (uint64_t)socket, scratch, MSG_CMSG_CLOEXEC, 0, 0, 0);
    if (result < 0 || !target_read(t, scratch, &message, sizeof message))
        return result < 0 ? (int)result : -EFAULT;
    c = (struct cmsghdr *)(void *)message.control;
    if (message.head.msg_controllen < CMSG_LEN(sizeof fd) || c->cmsg_type != SCM_RIGHTS)
        return -EMFILE; // The process has no free descriptor.
    memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

int
remote_give_file(struct remote *r, int fd, uint64_t scratch)
{
    int pair[2], ours, result;
    long made = remote_syscall(r, SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, scratch,
                               0, 0);

    if (made < 0 || !target_read(r->threads->target, scratch, pair, sizeof pair))
        return made < 0 ? (int)made : -EFAULT;
    ours = copy_descriptor(r->threads->target->pid, pair[1]);
    remote_syscall(r, SYS_close, (uint64_t)pair[1], 0, 0, 0, 0, 0);
    result = ours < 0 ? ours : send_file(ours, fd);
    if (result == 0)
        result = receive_file(r, pair[0], scratch);
    remote_syscall(r, SYS_close, (uint64_t)pair[0], 0, 0, 0, 0, 0);
    if (ours >= 0)
        close(ours);
    return result;
}
