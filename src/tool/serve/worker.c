/* worker.c: a child of the server that reads profiles and symbols.
 *
 * Profiles and the files that they name are foreign bytes, and large ones take seconds. So each
 * answer is made by a child with limits on memory and time: a crash or a loop costs one answer, the
 * server stays small. Only one
 * child reads at a time, by a lock on a file without a name; the kernel releases it if the child
 * dies. So a burst of requests takes no more than one processor. */
#include "serve/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEMORY_BYTES ((rlim_t)16 << 30)
#define OUTPUT_BYTES ((size_t)256 << 20)

enum { CPU_SECONDS = 300 };

static int lock_fd = -1;

static uint64_t
worker_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void
limit(int what, rlim_t most)
{
    struct rlimit l;

    if (getrlimit((unsigned)what, &l) != 0)
        return;
    if (l.rlim_max > most)
        l.rlim_max = most;
    l.rlim_cur = l.rlim_max;
    setrlimit((unsigned)what, &l);
}

/* Make this process a child that knows nothing of the server's connections. */
static void
become_child(int fd, pid_t parent)
{
    char path[32];
    sigset_t none;
    int quiet = open("/dev/null", O_RDWR | O_CLOEXEC), own;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO && quiet >= 0; i++)
        dup2(quiet, i);
    // Open it again, because the lock belongs to the open file.
    snprintf(path, sizeof path, "/proc/self/fd/%d", lock_fd);
    own = open(path, O_RDWR | O_CLOEXEC);
    if (own < 0 || dup2(fd, STDERR_FILENO + 1) < 0 || (own == STDERR_FILENO + 1))
        _exit(1);
    if (dup2(own, STDERR_FILENO + 2) < 0 || close_range(STDERR_FILENO + 3, ~0U, 0) != 0)
        _exit(1);
    lock_fd = STDERR_FILENO + 2;
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_AS, MEMORY_BYTES);
    limit(RLIMIT_CPU, CPU_SECONDS);
}

bool
worker_start(struct worker *w, void (*job)(void *arg, int fd), void *arg, unsigned seconds)
{
    pid_t parent = getpid();
    int ends[2];

    if (lock_fd < 0)
        lock_fd = memfd_create("heaptap", MFD_CLOEXEC);
    if (lock_fd < 0 || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    w->pid = fork();
    if (w->pid == 0) {
        become_child(ends[1], parent);
        job(arg, STDERR_FILENO + 1);
        _exit(0);
    }
    close(ends[1]);
    if (w->pid < 0) {
        close(ends[0]);
        return false;
    }
    w->fd = ends[0];
    fcntl(w->fd, F_SETFL, O_NONBLOCK);
    w->end_ns = worker_now_ns() + (uint64_t)seconds * 1000000000;
    w->output = (struct strbuf){0};
    return true;
}

/* Wait for the child, which has closed its output or was killed. */
static enum worker_state
reap(struct worker *w)
{
    int status;
    pid_t r;

    close(w->fd);
    w->fd = -1;
    do
        r = waitpid(w->pid, &status, 0);
    while (r < 0 && errno == EINTR);
    w->pid = 0;
    return r > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? WORKER_DONE : WORKER_FAILED;
}

enum worker_state
worker_read(struct worker *w)
{
    char chunk[65536];

    for (;;) {
        ssize_t n = read(w->fd, chunk, sizeof chunk);

        if (n == 0)
            return reap(w);
        if (n > 0) {
            strbuf_add(&w->output, chunk, (size_t)n);
            if (w->output.length < OUTPUT_BYTES)
                continue;
        } else if (errno == EINTR) {
            continue;
        } else if (errno == EAGAIN && worker_now_ns() < w->end_ns) {
            return WORKER_RUNS;
        }
        kill(w->pid, SIGKILL);
        reap(w);
        return WORKER_FAILED;
    }
}

void
worker_end(struct worker *w)
{
    if (w->pid > 0) {
        kill(w->pid, SIGKILL);
        reap(w);
    }
    strbuf_release(&w->output);
}

void
worker_write(int fd, const void *data, size_t size_bytes)
{
    const char *from = data;

    while (size_bytes > 0) {
        ssize_t n = write(fd, from, size_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(1);
        from += n;
        size_bytes -= (size_t)n;
    }
}

void
worker_enter(void)
{
    while (flock(lock_fd, LOCK_EX) != 0 && errno == EINTR)
        continue;
}

void
worker_leave(void)
{
    flock(lock_fd, LOCK_UN);
}
