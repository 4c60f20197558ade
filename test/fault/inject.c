/* inject.c: make system calls of one library fail, or take long.
 *
 *   inject --call NAME --errno NAME [--n N] [--all-after] [--from LIBRARY] [--count FILE]
 *          [--preload LIBRARY] [--also NAME] -- PROGRAM ARGS...
 *   inject --call NAME --hold MILLISECONDS ...
 *   inject --call NAME --errno NAME --also NAME --hold MILLISECONDS ...
 *
 * Runs PROGRAM, with LD_PRELOAD set to --preload, and follows its threads and children. It counts
 * the system calls NAME whose instruction is in a mapping of LIBRARY (part of the path; default
 * libheaptap.so). The recorder makes its calls inline, so this excludes the program's calls. The
 * N-th call (--n; 0 = none) is not executed and fails with the given error number; with
 * --all-after, so does every later call. All calls --also fail as well and are not counted; these
 * are calls that only occur after another failure. The number of counted calls is written to FILE.
 * inject ends like PROGRAM: with its status, or by its signal.
 *
 * With --hold, the calls are executed, and the calling thread is then held for one, two or three
 * times MILLISECONDS, in turn, while the others run. This provokes races between two calls of the
 * recorder. With --errno and --hold, the calls --call fail and the calls --also are held.
 *
 * A seccomp filter stops the program only at these calls, so all other code runs at full speed. To
 * skip a call, inject sets the call number to -1 and the result register to the result.
 *
 * inject never changes the effect of a call, only whether the call is made. If the kernel forbids
 * tracing, the status is 77. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { USAGE = 2, SKIPPED = 77, HELD_MAX = 64 };

struct name {
    const char *text;
    int value;
};

static const struct name calls[] = {
    {"read", SYS_read},
    {"write", SYS_write},
    {"pwrite64", SYS_pwrite64},
    {"pread64", SYS_pread64},
    {"fcntl", SYS_fcntl},
    {"mremap", SYS_mremap},
    {"close", SYS_close},
    {"fstat", SYS_fstat},
    {"poll", SYS_poll},
    {"mmap", SYS_mmap},
    {"mprotect", SYS_mprotect},
    {"munmap", SYS_munmap},
    {"munlock", SYS_munlock},
    {"madvise", SYS_madvise},
    {"mincore", SYS_mincore},
    {"rt_sigprocmask", SYS_rt_sigprocmask},
    {"rt_sigpending", SYS_rt_sigpending},
    {"rt_sigtimedwait", SYS_rt_sigtimedwait},
    {"sched_yield", SYS_sched_yield},
    {"nanosleep", SYS_nanosleep},
    {"getpid", SYS_getpid},
    {"getppid", SYS_getppid},
    {"gettid", SYS_gettid},
    {"getcwd", SYS_getcwd},
    {"ftruncate", SYS_ftruncate},
    {"fallocate", SYS_fallocate},
    {"prctl", SYS_prctl},
    {"tgkill", SYS_tgkill},
    {"openat", SYS_openat},
    {"newfstatat", SYS_newfstatat},
    {"unlinkat", SYS_unlinkat},
    {"linkat", SYS_linkat},
    {"readlinkat", SYS_readlinkat},
    {"sigaltstack", SYS_sigaltstack},
    {"clock_gettime", SYS_clock_gettime},
    {"prlimit64", SYS_prlimit64},
    {"sched_getaffinity", SYS_sched_getaffinity},
    {"uname", SYS_uname},
    {NULL, 0},
};

static const struct name errors[] = {
    {"EPERM", EPERM},   {"ENOENT", ENOENT}, {"EINTR", EINTR},           {"EIO", EIO},
    {"EAGAIN", EAGAIN}, {"ENOMEM", ENOMEM}, {"EACCES", EACCES},         {"EINVAL", EINVAL},
    {"EMFILE", EMFILE}, {"ENFILE", ENFILE}, {"EFBIG", EFBIG},           {"ENOSPC", ENOSPC},
    {"EROFS", EROFS},   {"ENOSYS", ENOSYS}, {"EOPNOTSUPP", EOPNOTSUPP}, {"EDQUOT", EDQUOT},
    {"EEXIST", EEXIST}, {"EBADF", EBADF},   {NULL, 0},
};

static struct {
    int call, also, error;
    unsigned long n, hold_ms;
    int all_after;
    const char *from;
    const char *count_path;
    const char *preload;
} option = {.call = -1, .also = -1, .from = "libheaptap.so"};

static unsigned long matched;

static void
inject_fail(const char *what)
{
    fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
    exit(SKIPPED);
}

static int
lookup(const struct name *table, const char *text)
{
    for (; table->text != NULL; table++)
        if (strcmp(table->text, text) == 0)
            return table->value;
    fprintf(stderr, "inject: unknown name: %s\n", text);
    exit(USAGE);
}

/* Read the options; return the index of the program in ARGV. */
static int
inject_parse(int argc, char **argv)
{
    int i;

    for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(argv[i], "--all-after") == 0) {
            option.all_after = 1;
            continue;
        }
        if (strcmp(argv[i], "--call") == 0)
            option.call = lookup(calls, value);
        else if (strcmp(argv[i], "--also") == 0)
            option.also = lookup(calls, value);
        else if (strcmp(argv[i], "--errno") == 0)
            option.error = lookup(errors, value);
        else if (strcmp(argv[i], "--n") == 0)
            option.n = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--hold") == 0)
            option.hold_ms = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--from") == 0)
            option.from = value;
        else if (strcmp(argv[i], "--preload") == 0)
            option.preload = value;
        else if (strcmp(argv[i], "--count") == 0)
            option.count_path = value;
        else
            break;
        i++;
    }
    if (i + 1 >= argc || strcmp(argv[i], "--") != 0 || option.call < 0 ||
        (option.n && !option.error && !option.hold_ms)) {
        fprintf(stderr, "inject: see the beginning of inject.c\n");
        exit(USAGE);
    }
    return i + 1;
}

static void
install_filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)option.call, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)option.also, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        inject_fail("seccomp");
}

static pid_t
launch(char **argv)
{
    pid_t pid = fork();

    if (pid < 0)
        inject_fail("fork");
    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            inject_fail("ptrace");
        if (option.preload != NULL)
            setenv("LD_PRELOAD", option.preload, 1);
        raise(SIGSTOP);
        install_filter();
        execvp(argv[0], argv);
        inject_fail(argv[0]);
    }
    return pid;
}

/* Return true if ADDRESS lies in a mapping of the library in process PID. */
static int
in_library(pid_t pid, unsigned long long address)
{
    char line[4400], path[64];
    FILE *f;
    int found = 0;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    f = fopen(path, "r");
    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL) {
        unsigned long long low, high;

        found = sscanf(line, "%llx-%llx", &low, &high) == 2 && address >= low && address < high &&
                strstr(line, option.from) != NULL;
    }
    if (f != NULL)
        fclose(f);
    return found;
}

/* Handle a call that thread TID is about to make. Return the ptrace request that resumes the
 * thread. */
static int
on_call(pid_t tid)
{
    struct user_regs_struct regs;

    if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) != 0 || !in_library(tid, regs.rip))
        return PTRACE_CONT;
    if (regs.orig_rax == (unsigned long long)option.call) {
        matched++;
        if (option.n == 0 || matched < option.n || (matched > option.n && !option.all_after))
            return PTRACE_CONT;
    }
    if (option.hold_ms != 0 &&
        (option.error == 0 || regs.orig_rax == (unsigned long long)option.also))
        return PTRACE_SYSCALL; // The thread stops again when the call is done.
    regs.orig_rax = (unsigned long long)-1;
    regs.rax = (unsigned long long)-option.error;
    ptrace(PTRACE_SETREGS, tid, NULL, &regs);
    return PTRACE_CONT;
}

static struct {
    pid_t tid; // 0 = free.
    double until;
} held[HELD_MAX];

static double
inject_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void
hold(pid_t tid)
{
    static unsigned long count;

    for (int i = 0; i < HELD_MAX; i++) {
        if (held[i].tid == 0) {
            held[i].tid = tid;
            held[i].until = inject_now_ms() + (double)(option.hold_ms * (1 + count++ % 3));
            return;
        }
    }
    ptrace(PTRACE_CONT, tid, NULL, NULL);
}

/* Resume the threads whose hold time has passed. Return true if some are still held. */
static int
inject_release(void)
{
    int left = 0;

    for (int i = 0; i < HELD_MAX; i++) {
        if (held[i].tid != 0 && inject_now_ms() >= held[i].until) {
            ptrace(PTRACE_CONT, held[i].tid, NULL, NULL);
            held[i].tid = 0;
        }
        left |= held[i].tid != 0;
    }
    return left;
}

static void
on_stop(pid_t tid, int status)
{
    int event = status >> 16;
    int number = WSTOPSIG(status);

    if (number == (SIGTRAP | 0x80)) {
        hold(tid);
        return;
    }
    // A new thread or child begins with a SIGSTOP that no process sent.
    if (event != 0 || number == SIGSTOP)
        number = 0;
    ptrace(event == PTRACE_EVENT_SECCOMP ? on_call(tid) : PTRACE_CONT, tid, NULL,
           (void *)(long)number);
}

/* Loop until the last thread has ended; return the wait status of FIRST. */
static int
follow(pid_t first)
{
    int result = 0, status;
    pid_t tid;

    while ((tid = waitpid(-1, &status, __WALL | (inject_release() ? WNOHANG : 0))) >= 0) {
        if (tid == 0)
            usleep(500);
        else if (WIFSTOPPED(status))
            on_stop(tid, status);
        else if (tid == first)
            result = status;
    }
    return result;
}

static void
write_count(void)
{
    FILE *f = option.count_path ? fopen(option.count_path, "w") : NULL;

    if (f != NULL) {
        fprintf(f, "%lu\n", matched);
        fclose(f);
    }
}

int
main(int argc, char **argv)
{
    int program = inject_parse(argc, argv);
    pid_t first = launch(argv + program);
    int status;

    if (waitpid(first, &status, __WALL) != first || !WIFSTOPPED(status))
        inject_fail("the program does not start");
    if (ptrace(PTRACE_SETOPTIONS, first, NULL,
               (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE |
                        PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
                        PTRACE_O_EXITKILL)) != 0)
        inject_fail("ptrace options");
    ptrace(PTRACE_CONT, first, NULL, NULL);
    status = follow(first);
    write_count();
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}
