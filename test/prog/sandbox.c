/* cflags: -fno-builtin -O0 */
/* libs: -lpthread */
/* sandbox.c: forbid system calls for this process, then continue to allocate.
 *
 *   sandbox strict [SITES]   only read, write, exit (SECCOMP_MODE_STRICT)
 *   sandbox kill [SITES]     a filter that kills at every call that recording could need
 *   sandbox errno [SITES]    the same filter, but the calls fail with EPERM
 *   sandbox none [SITES]
 *   sandbox fork             kill, and a child that allocates
 *
 * The heap grows first, so that the allocator needs no further system calls. Then SITES (64) stacks
 * allocate 10 blocks each, and a thread that existed before allocates 100. Prints "ok SUM" and
 * exits with 9. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int go, ready;
static uint64_t thread_sum;

static const int forbidden[] = {
    SYS_openat,    SYS_open,      SYS_mmap,     SYS_munmap, SYS_mprotect,       SYS_madvise,
    SYS_mincore,   SYS_munlock,   SYS_fstat,    SYS_tgkill, SYS_rt_sigprocmask, SYS_gettid,
    SYS_getpid,    SYS_getppid,   SYS_prctl,    SYS_close,  SYS_readlinkat,     SYS_newfstatat,
    SYS_ftruncate, SYS_fallocate, SYS_unlinkat, SYS_linkat, SYS_getcwd,         SYS_sched_yield,
    SYS_nanosleep, SYS_brk,
};

enum { FORBIDDEN = sizeof forbidden / sizeof forbidden[0] };

static void
install_filter(unsigned action)
{
    struct sock_filter code[FORBIDDEN + 3];
    struct sock_fprog program = {FORBIDDEN + 3, code};

    code[0] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < FORBIDDEN; i++)
        code[i + 1] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)forbidden[i], (unsigned char)(FORBIDDEN - i), 0);
    code[FORBIDDEN + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[FORBIDDEN + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        _exit(77);
}

static void
forbid(const char *mode)
{
    if (strcmp(mode, "strict") == 0) {
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
            _exit(77);
    } else if (strcmp(mode, "errno") == 0) {
        install_filter(SECCOMP_RET_ERRNO | 1);
    } else if (strcmp(mode, "none") != 0) {
        install_filter(SECCOMP_RET_KILL_PROCESS);
    }
}

static uint64_t left(int level, uint64_t path);

static __attribute__((noinline)) uint64_t
leaf(uint64_t x)
{
    uint64_t sum = 0;

    for (int i = 0; i < 10; i++) {
        unsigned char *p = malloc(20 + x % 80);

        memset(p, (int)x, 20);
        sum += p[19];
        free(p);
    }
    return sum;
}

static __attribute__((noinline)) uint64_t
right(int level, uint64_t path)
{
    return level == 0 ? leaf(path) + 1 : left(level - 1, path * 2) + right(level - 1, path * 2 + 1);
}

static __attribute__((noinline)) uint64_t
left(int level, uint64_t path)
{
    return level == 0 ? leaf(path) + 2 : right(level - 1, path * 2) + left(level - 1, path * 2 + 1);
}

static void *
work(void *unused)
{
    (void)unused;
    ready = 1;
    while (!go)
        __builtin_ia32_pause();
    for (int i = 0; i < 10; i++)
        thread_sum += leaf((uint64_t)i);
    __atomic_store_n(&go, 2, __ATOMIC_RELEASE);
    // Exiting would need more system calls than are allowed.
    while (go)
        pause();
    return NULL;
}

/* Print "ok SUM" without stdio, which allocates. */
static void
say(uint64_t sum)
{
    char text[32] = "ok ";
    int length = 3;
    uint64_t unit = 1;

    while (sum / unit >= 10)
        unit *= 10;
    for (; unit > 0; unit /= 10)
        text[length++] = (char)('0' + sum / unit % 10);
    text[length++] = '\n';
    if (write(1, text, (size_t)length) != length)
        _exit(1);
}

static int
fork_child(void)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        forbid("kill");
        say(left(3, 1));
        syscall(SYS_exit, 9);
    }
    waitpid(pid, &status, 0);
    return status == 9 << 8 ? 9 : 1;
}

int
main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "none";
    int sites = argc > 2 ? atoi(argv[2]) : 64;
    int threaded = strcmp(mode, "strict") != 0 && strcmp(mode, "fork") != 0;
    int levels = 0;
    pthread_t thread;

    while (1 << levels < sites)
        levels++;
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 1 << 20);
    mallopt(M_ARENA_MAX, 1);
    free(malloc(1 << 16));
    if (strcmp(mode, "fork") == 0)
        return fork_child();
    if (threaded && pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    while (threaded && !ready)
        usleep(1000);
    forbid(mode);
    go = threaded;
    say(left(levels, 1));
    while (threaded && __atomic_load_n(&go, __ATOMIC_ACQUIRE) != 2)
        __builtin_ia32_pause();
    syscall(strcmp(mode, "strict") == 0 ? SYS_exit : SYS_exit_group, 9);
}
