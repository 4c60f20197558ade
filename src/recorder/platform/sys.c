/* sys.c: system calls without libc; sys.h gives the reason. */
#include "platform/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "base/atomics.h"
#include "base/fmt.h"
#include "platform/arch_x86_64.h"

// Upper bound of thread ids (PID_MAX_LIMIT of the kernel).
enum { TID_LIMIT = 1 << 22 };

// Upper bound of NR_CPUS in any kernel.
enum { PROCESSORS_MAX = 8192 };

// A mask that no thread can have, because SIGKILL cannot be blocked.
#define MASK_NONE (UINT64_C(1) << (SIGKILL - 1))

// Facts that sys_be_quiet reads before the process forbids system calls. Constant afterwards, also
// in children.
static bool quiet;
bool arch_cycles_forbidden;
static char quiet_name[16];
static char quiet_directory[1024]; // Empty if unknown.
static int made_up_tid = TID_LIMIT; // Atomic: the lowest id that sys_gettid has invented.

/* Lowest descriptor number of the recorder. The kernel's descriptor table is no larger for this
 * number than for number 128. */
enum { DESCRIPTOR_LEAST = 200 };

#define CALL(number, a, b, c, d, e, f)                                                             \
    (unlikely(quiet) ? -EPERM                                                                      \
                     : arch_syscall((number), (long)(a), (long)(b), (long)(c), (long)(d),          \
                                    (long)(e), (long)(f)))

void
sys_be_quiet(void)
{
    sys_thread_name(quiet_name);
    sys_getcwd(quiet_directory, sizeof quiet_directory);
    arch_cycles_forbidden = true;
    quiet = true;
}

void
sys_be_quiet_no_longer(void)
{
    quiet = false;
}

bool
sys_is_quiet(void)
{
    return quiet;
}

void *
sys_mmap(void *address, size_t size_bytes, int protection, int flags, int fd, uint64_t off)
{
    return (void *)CALL(SYS_mmap, address, size_bytes, protection, flags, fd, off);
}

void *
sys_mremap(void *address, size_t old_bytes, size_t new_bytes, int flags, void *new_address)
{
    return (void *)CALL(SYS_mremap, address, old_bytes, new_bytes, flags, new_address, 0);
}

int
sys_munmap(void *address, size_t size_bytes)
{
    return (int)CALL(SYS_munmap, address, size_bytes, 0, 0, 0, 0);
}

void
sys_munmap_always(void *address, size_t size_bytes)
{
    arch_syscall(SYS_munmap, (long)address, (long)size_bytes, 0, 0, 0, 0);
}

int
sys_madvise(void *address, size_t size_bytes, int advice)
{
    return (int)CALL(SYS_madvise, address, size_bytes, advice, 0, 0, 0);
}

int
sys_mprotect(void *address, size_t size_bytes, int protection)
{
    return (int)CALL(SYS_mprotect, address, size_bytes, protection, 0, 0, 0);
}

int
sys_munlock(void *address, size_t size_bytes)
{
    return (int)CALL(SYS_munlock, address, size_bytes, 0, 0, 0, 0);
}

int
sys_mincore(const void *address, size_t size_bytes, unsigned char *ret_present)
{
    return (int)CALL(SYS_mincore, address, size_bytes, ret_present, 0, 0, 0);
}

/* Duplicate FD to a high number, which programs rarely reach. Return it, or a negative error
 * number. */
static int
sys_move_up(int fd)
{
    return (int)CALL(SYS_fcntl, fd, F_DUPFD_CLOEXEC, DESCRIPTOR_LEAST, 0, 0, 0);
}

int
sys_open(const char *path, int flags, int mode)
{
    int low = (int)CALL(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode, 0, 0);
    int high = low >= 0 ? sys_move_up(low) : low;

    if (low < 0 || high == -EBADF)
        return high;
    if (high < 0)
        return low;
    sys_close(low);
    return high;
}

int
sys_open_again(const char *path, int flags, uint64_t device, uint64_t inode)
{
    int low = (int)CALL(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0, 0, 0);
    int high = low >= 0 ? sys_move_up(low) : low;
    int fd = high >= 0 ? high : low;

    if (low < 0 || high == -EBADF)
        return high;
    if (!sys_is_file(fd, device, inode)) {
        // The program has reused the number LOW for another file, so do not close LOW.
        if (fd == high)
            sys_close(high);
        return -EBADF;
    }
    if (fd == high && sys_is_file(low, device, inode))
        sys_close(low);
    return fd;
}

bool
sys_is_file(int fd, uint64_t device, uint64_t inode)
{
    struct stat st;

    return sys_fstat(fd, &st) == 0 && (uint64_t)st.st_dev == device && (uint64_t)st.st_ino == inode;
}

int
sys_close(int fd)
{
    return (int)CALL(SYS_close, fd, 0, 0, 0, 0, 0);
}

int
sys_fstat(int fd, struct stat *ret_stat)
{
    return (int)CALL(SYS_fstat, fd, ret_stat, 0, 0, 0, 0);
}

int
sys_lstat(const char *path, struct stat *ret_stat)
{
    return (int)CALL(SYS_newfstatat, AT_FDCWD, path, ret_stat, AT_SYMLINK_NOFOLLOW, 0, 0);
}

int
sys_ftruncate(int fd, uint64_t size_bytes)
{
    return (int)CALL(SYS_ftruncate, fd, size_bytes, 0, 0, 0, 0);
}

int
sys_fallocate(int fd, uint64_t off, uint64_t size_bytes)
{
    return (int)CALL(SYS_fallocate, fd, 0, off, size_bytes, 0, 0);
}

long
sys_pread(int fd, void *buffer, size_t size_bytes, uint64_t off)
{
    return CALL(SYS_pread64, fd, buffer, size_bytes, off, 0, 0);
}

long
sys_write(int fd, const void *data, size_t size_bytes)
{
    return CALL(SYS_write, fd, data, size_bytes, 0, 0, 0);
}

long
sys_pwrite(int fd, const void *data, size_t size_bytes, uint64_t off)
{
    return CALL(SYS_pwrite64, fd, data, size_bytes, off, 0, 0);
}

/* Consume signal NUMBER if it is pending for this thread. The thread must block it. */
static void
discard_signal(int number)
{
    uint64_t set = UINT64_C(1) << (number - 1);
    struct timespec now = {0};

    CALL(SYS_rt_sigtimedwait, &set, NULL, &now, sizeof set, 0, 0);
}

void
sys_write_politely(int fd, const void *data, size_t size_bytes)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    uint64_t mask = sys_block_signals();
    uint64_t pending = 0;
    bool known = CALL(SYS_rt_sigpending, &pending, sizeof pending, 0, 0, 0, 0) == 0;

    // Block signals, because otherwise a closed pipe would kill the program.
    if (mask != MASK_NONE && known && CALL(SYS_poll, &ready, 1, 0, 0, 0, 0) == 1 &&
        (ready.revents & (POLLOUT | POLLERR)) == POLLOUT) {
        long r = sys_write(fd, data, size_bytes);

        if (r == -EPIPE && !(pending & UINT64_C(1) << (SIGPIPE - 1)))
            discard_signal(SIGPIPE);
        if (r == -EFBIG && !(pending & UINT64_C(1) << (SIGXFSZ - 1)))
            discard_signal(SIGXFSZ);
    }
    sys_unblock_signals(mask);
}

int
sys_write_all(int fd, const void *data, size_t size_bytes)
{
    static const uint64_t deadly = UINT64_C(1) << (SIGPIPE - 1) | UINT64_C(1) << (SIGXFSZ - 1);
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    const char *p = data;
    uint64_t before, pending = deadly;
    long r;

    // Block only the deadly signals: a program that waits here for a slow reader must still receive
    // all other signals.
    r = CALL(SYS_rt_sigprocmask, SIG_BLOCK, &deadly, &before, sizeof before, 0, 0);
    if (r != 0)
        return (int)r;
    CALL(SYS_rt_sigpending, &pending, sizeof pending, 0, 0, 0, 0);
    while (size_bytes > 0) {
        r = sys_write(fd, p, size_bytes);
        if (r > 0) {
            p += r;
            size_bytes -= (size_t)r;
        } else if (r == -EAGAIN) {
            CALL(SYS_poll, &ready, 1, -1, 0, 0, 0);
        } else if (r != -EINTR) {
            break;
        }
    }
    if (r == -EPIPE && !(pending & UINT64_C(1) << (SIGPIPE - 1)))
        discard_signal(SIGPIPE);
    if (r == -EFBIG && !(pending & UINT64_C(1) << (SIGXFSZ - 1)))
        discard_signal(SIGXFSZ);
    CALL(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before, 0, 0);
    if (size_bytes == 0)
        return 0;
    return r < 0 ? (int)r : -EIO;
}

int
sys_send(const char *name, const void *data, size_t size_bytes)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct fmt f = fmt_init(to.sun_path + 1, sizeof to.sun_path - 1);
    int low = (int)CALL(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, 0, 0, 0);
    int high = low >= 0 ? sys_move_up(low) : low, fd = high >= 0 ? high : low;
    long r;

    if (low < 0 || high == -EBADF)
        return high;
    fmt_str(&f, name);
    r = CALL(SYS_sendto, fd, data, size_bytes, MSG_DONTWAIT | MSG_NOSIGNAL, &to,
             offsetof(struct sockaddr_un, sun_path) + 1 + f.length);
    sys_close(low);
    if (fd == high)
        sys_close(high);
    return r < 0 ? (int)r : 0;
}

int
sys_unlink(const char *path)
{
    return (int)CALL(SYS_unlinkat, AT_FDCWD, path, 0, 0, 0, 0);
}

int
sys_mkdir(const char *path, int mode)
{
    return (int)CALL(SYS_mkdirat, AT_FDCWD, path, mode, 0, 0, 0);
}

int
sys_link(int fd, const char *path)
{
    char from[32];
    struct fmt f = fmt_init(from, sizeof from);
    int r = (int)CALL(SYS_linkat, fd, "", AT_FDCWD, path, AT_EMPTY_PATH, 0);

    // Before Linux 6.10 the call needs a capability, and otherwise fails with ENOENT.
    if (r != -ENOENT)
        return r;
    fmt_str(&f, "/proc/self/fd/");
    fmt_uint(&f, (uint64_t)fd);
    return (int)CALL(SYS_linkat, AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW, 0);
}

long
sys_readlink(const char *path, char *buffer, size_t size_bytes)
{
    return CALL(SYS_readlinkat, AT_FDCWD, path, buffer, size_bytes, 0, 0);
}

int
sys_getcwd(char *buffer, size_t size_bytes)
{
    if (unlikely(quiet)) {
        size_t used_bytes = strlen(quiet_directory) + 1;

        if (used_bytes == 1 || used_bytes > size_bytes)
            return -ENOENT;
        memcpy(buffer, quiet_directory, used_bytes);
        return (int)used_bytes;
    }
    return (int)CALL(SYS_getcwd, buffer, size_bytes, 0, 0, 0, 0);
}

int
sys_getpid(void)
{
    return (int)CALL(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

bool
sys_is_process(uint32_t pid)
{
    return (uint32_t)arch_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) == pid;
}

int
sys_getppid(void)
{
    return (int)CALL(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

int
sys_gettid(void)
{
    int tid = (int)CALL(SYS_gettid, 0, 0, 0, 0, 0, 0);

    return tid > 0 ? tid : add_relaxed(&made_up_tid, -1) - 1;
}

int
sys_tgkill(int pid, int tid, int signal)
{
    // A thread with an invented id is unknown to the kernel, so no call could show that it has
    // ended.
    if (tid >= load_relaxed(&made_up_tid))
        return -EPERM;
    return (int)CALL(SYS_tgkill, pid, tid, signal, 0, 0, 0);
}

void
sys_raise_again(int signal, const siginfo_t *info)
{
    // Do not use CALL, because the default action must happen in a quiet process as well.
    long pid = arch_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
    long tid = arch_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);

    arch_syscall(SYS_rt_tgsigqueueinfo, pid, tid, signal, (long)info, 0, 0);
}

int
sys_thread_name(char *ret_name_16)
{
    if (unlikely(quiet)) {
        __builtin_memcpy(ret_name_16, quiet_name, sizeof quiet_name);
        return 0;
    }
    return (int)CALL(SYS_prctl, PR_GET_NAME, ret_name_16, 0, 0, 0, 0);
}

uint64_t
sys_block_signals(void)
{
    // Leave SIGBUS unblocked: a blocked fault would kill the process, and guard.c handles this
    // signal.
    uint64_t all = ~(UINT64_C(1) << (SIGBUS - 1)), before = 0;

    if (CALL(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all, 0, 0) != 0)
        return MASK_NONE;
    return before;
}

void
sys_unblock_signals(uint64_t mask)
{
    // Do not use CALL: the process may have become quiet since, and the program needs its signals.
    if (mask != MASK_NONE)
        arch_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
}

/* Return true if valgrind executes the process. Async-signal-safe. */
static bool
is_on_valgrind(void)
{
    static uint32_t answer; // Atomic: 0 = unknown, 1 = no, 2 = yes.

    if (unlikely(load_relaxed(&answer) == 0))
        store_relaxed(&answer, arch_is_on_valgrind() ? 2u : 1u);
    return load_relaxed(&answer) == 2;
}

/* sys_is_readable under valgrind. This call reads memory that valgrind does not check. Filters of
 * system calls often forbid it, so other processes do not use it. */
static COLD bool
is_readable_on_valgrind(uint64_t address)
{
    char byte;
    const struct iovec to = {&byte, 1}, from = {(void *)(uintptr_t)address, 1};

    return CALL(SYS_process_vm_readv, sys_getpid(), &to, 1, &from, 1, 0) == 1;
}

bool
sys_is_readable(uint64_t address)
{
    enum { NO_SUCH_HOW = -1 };

    // Valgrind would report the unknown HOW, and memcheck a set without a value.
    if (unlikely(is_on_valgrind()))
        return is_readable_on_valgrind(address);
    // The kernel reads the set at ADDRESS before it refuses HOW, so the call changes nothing.
    return CALL(SYS_rt_sigprocmask, NO_SUCH_HOW, address & ~UINT64_C(7), NULL, 8, 0, 0) == -EINVAL;
}

bool
sys_on_signal_stack(void)
{
    stack_t now = {0};

    return CALL(SYS_sigaltstack, NULL, &now, 0, 0, 0, 0) == 0 && now.ss_flags & SS_ONSTACK;
}

uint64_t
sys_limit(int resource)
{
    struct rlimit limit;

    if (CALL(SYS_prlimit64, 0, resource, NULL, &limit, 0, 0) != 0 ||
        limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

uint32_t
sys_processors(void)
{
    uint64_t set[PROCESSORS_MAX / 64];
    long bytes = CALL(SYS_sched_getaffinity, 0, sizeof set, set, 0, 0, 0);
    uint32_t count = 0;

    for (long i = 0; i < bytes / 8; i++)
        for (uint64_t left = set[i]; left != 0; left &= left - 1)
            count++;
    return count;
}

int
sys_uname(struct utsname *ret_name)
{
    return (int)CALL(SYS_uname, ret_name, 0, 0, 0, 0, 0);
}

static sys_clock_fn *kernel_clock; // Constant after the recorder has started.
static uint64_t latest_ns;         // Atomic: latest time that a system call has returned.

static uint64_t
nanoseconds(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

void
sys_use_clock(sys_clock_fn *f)
{
    store_relaxed(&kernel_clock, f);
}

uint64_t
sys_clock_ns(void)
{
    sys_clock_fn *f = load_relaxed(&kernel_clock);
    struct timespec t;

    // The coarse clock only reads memory, so it works even if the cycle counter is forbidden.
    if (likely(f != NULL) && likely(f(CLOCK_MONOTONIC_COARSE, &t) == 0))
        return nanoseconds(&t);
    if (CALL(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, &t, 0, 0, 0, 0) == 0)
        store_relaxed(&latest_ns, nanoseconds(&t));
    return load_relaxed(&latest_ns);
}

uint64_t
sys_work_ns(void)
{
    struct timespec t;

    if (CALL(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t, 0, 0, 0, 0) == 0)
        return nanoseconds(&t);
    return sys_clock_ns();
}

uint64_t
sys_process_work_ns(void)
{
    struct timespec t;

    if (CALL(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &t, 0, 0, 0, 0) == 0)
        return nanoseconds(&t);
    return 0;
}

uint64_t
sys_unix_ns(void)
{
    struct timespec t = {0};

    CALL(SYS_clock_gettime, CLOCK_REALTIME, &t, 0, 0, 0, 0);
    return nanoseconds(&t);
}

long
sys_auxiliary(void *buffer, size_t size_bytes)
{
    // PR_GET_AUXV, which the headers of most systems lack. It returns the size of the vector, which
    // may be larger than the buffer.
    long r = CALL(SYS_prctl, 0x41555856, buffer, size_bytes, 0, 0, 0);
    int fd;

    if (r > 0)
        return r < (long)size_bytes ? r : (long)size_bytes;
    fd = sys_open("/proc/self/auxv", O_RDONLY, 0);
    if (fd < 0)
        return fd;
    r = sys_pread(fd, buffer, size_bytes, 0);
    sys_close(fd);
    return r;
}

bool
sys_has_more_rights(void)
{
    return CALL(SYS_getuid, 0, 0, 0, 0, 0, 0) != CALL(SYS_geteuid, 0, 0, 0, 0, 0, 0) ||
           CALL(SYS_getgid, 0, 0, 0, 0, 0, 0) != CALL(SYS_getegid, 0, 0, 0, 0, 0, 0);
}

bool
sys_gives_rights(const char *path, const struct stat *st)
{
    long user = CALL(SYS_getuid, 0, 0, 0, 0, 0, 0), group = CALL(SYS_getgid, 0, 0, 0, 0, 0, 0);

    if (CALL(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1)
        return false;
    return ((st->st_mode & S_ISUID) != 0 && (long)st->st_uid != user) ||
           ((st->st_mode & S_ISGID) != 0 && (st->st_mode & S_IXGRP) != 0 &&
            (long)st->st_gid != group) ||
           (user != 0 && CALL(SYS_getxattr, path, "security.capability", NULL, 0, 0, 0) > 0);
}

void
sys_wait(uint32_t attempt)
{
    struct timespec short_time = {.tv_nsec = 100000};

    if (unlikely(quiet))
        for (int i = 0; i < 1000; i++)
            __builtin_ia32_pause();
    else if (attempt < 64)
        CALL(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    else
        CALL(SYS_nanosleep, &short_time, NULL, 0, 0, 0, 0);
}
