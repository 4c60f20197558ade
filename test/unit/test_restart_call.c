/* test_restart_call.c: system calls with a timeout, in a process that is stopped again and again.
 *
 * A child waits in one call, and is stopped every STOP_MS until it has ended. The child reports the
 * call's result, errno and duration. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/aio_abi.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "image/live_memory.h"

enum { TIMEOUT_MS = 200, STOP_MS = 100, STOPS_MAX = 50 };

enum wait_kind {
    WAIT_EPOLL,
    WAIT_EPOLL2,
    WAIT_SIGNAL,
    WAIT_SEMAPHORE,
    WAIT_RECEIVE,
    WAIT_ACCEPT,
    WAIT_AIO,
    WAIT_AIO_MASKED,
};

struct outcome {
    int result, error;
    int64_t elapsed_ms;
};

static int64_t
restart_call_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int
wait_once(enum wait_kind kind, int fd)
{
    struct timespec limit = {0, TIMEOUT_MS * 1000000L};
    struct epoll_event event;
    struct sembuf take = {0, -1, 0};
    aio_context_t aio = 0;
    struct io_event done;
    sigset_t set;
    char byte;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    switch (kind) {
    case WAIT_EPOLL:
        return epoll_wait(fd, &event, 1, TIMEOUT_MS);
    case WAIT_EPOLL2:
        return (int)syscall(SYS_epoll_pwait2, fd, &event, 1, &limit, NULL, 0);
    case WAIT_SIGNAL:
        return sigtimedwait(&set, NULL, &limit);
    case WAIT_SEMAPHORE:
        return semtimedop(fd, &take, 1, &limit);
    case WAIT_RECEIVE:
        return (int)recv(fd, &byte, 1, 0);
    case WAIT_ACCEPT:
        return accept(fd, NULL, NULL);
    case WAIT_AIO:
        return (int)(syscall(SYS_io_setup, 1, &aio) < 0
                         ? -1
                         : syscall(SYS_io_getevents, aio, 1, 1, &done, &limit));
    case WAIT_AIO_MASKED:
        return (int)(syscall(SYS_io_setup, 1, &aio) < 0
                         ? -1
                         : syscall(SYS_io_pgetevents, aio, 1, 1, &done, &limit, NULL));
    }
    return 0;
}

/* Create the object that KIND waits for. Return its descriptor or, for WAIT_SEMAPHORE, its id; -1
 * if KIND needs none. */
static int
open_for(enum wait_kind kind)
{
    struct timeval limit = {0, TIMEOUT_MS * 1000};
    int fd;

    if (kind == WAIT_EPOLL || kind == WAIT_EPOLL2)
        return epoll_create1(0);
    if (kind == WAIT_SEMAPHORE)
        return semget(IPC_PRIVATE, 1, 0600);
    if (kind == WAIT_SIGNAL || kind >= WAIT_AIO)
        return -1;
    fd = socket(AF_UNIX, kind == WAIT_ACCEPT ? SOCK_STREAM : SOCK_DGRAM, 0);
    bind(fd, &(struct sockaddr){.sa_family = AF_UNIX}, sizeof(sa_family_t));
    if (kind == WAIT_ACCEPT)
        listen(fd, 1);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return fd;
}

static _Noreturn void
restart_call_child(enum wait_kind kind, int fd, int to)
{
    int64_t began = restart_call_now_ms();
    struct outcome o = {.result = wait_once(kind, fd)};

    o.error = errno;
    o.elapsed_ms = restart_call_now_ms() - began;
    _exit(write(to, &o, sizeof o) != sizeof o);
}

/* Make a call of KIND in a child that is stopped every STOP_MS. Return its outcome. */
static struct outcome
stopped_often(enum wait_kind kind)
{
    static const struct timespec interval = {.tv_nsec = STOP_MS * 1000000L};
    struct outcome o = {0};
    int fd = open_for(kind), report[2], stops = 0;
    pid_t pid;

    assert_int_equal(0, pipe(report));
    pid = fork();
    if (pid == 0)
        restart_call_child(kind, fd, report[1]);
    while (stops < STOPS_MAX) {
        struct memory m;

        nanosleep(&interval, NULL);
        if (waitpid(pid, NULL, WNOHANG) == pid)
            break;
        if (live_memory_open((uint32_t)pid, &m, NULL) != 0)
            continue;
        live_memory_stop(&m, LIVE_STOP_ALL);
        live_memory_go_on(&m);
        memory_close(&m);
        stops++;
    }
    if (stops == STOPS_MAX) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    assert_true(stops > 0 && stops < STOPS_MAX);
    assert_int_equal(sizeof o, read(report[0], &o, sizeof o));
    close(report[0]);
    close(report[1]);
    if (kind == WAIT_SEMAPHORE)
        semctl(fd, 0, IPC_RMID);
    else if (fd >= 0)
        close(fd);
    return o;
}

/* Skip the test if the kernel refuses a call number with a bit set in its upper half (before Linux
 * 5.14). There, a restarted call waits for its whole timeout again. */
static void
skip_without_marks(void)
{
    if (syscall(SYS_getpid | INT64_C(1) << 32) < 0)
        skip();
}

static void
check_kind(enum wait_kind kind, int result, int error)
{
    struct outcome o = stopped_often(kind);

    assert_int_equal(result, o.result);
    if (result < 0)
        assert_int_equal(error, o.error);
    assert_true(o.elapsed_ms >= TIMEOUT_MS);
}

/* If this fails, an event loop under a monitor that polls it often never runs its timers. */
static void
an_epoll_wait_that_is_stopped_often_times_out(void **state)
{
    (void)state;
    skip_without_marks();
    check_kind(WAIT_EPOLL, 0, 0);
    check_kind(WAIT_EPOLL2, 0, 0);
}

/* If this fails, a thread that waits for a signal, a semaphore or a disk waits forever. */
static void
a_timeout_in_memory_is_found(void **state)
{
    (void)state;
    skip_without_marks();
    check_kind(WAIT_SIGNAL, -1, EAGAIN);
    check_kind(WAIT_SEMAPHORE, -1, EAGAIN);
    check_kind(WAIT_AIO, 0, 0);
    check_kind(WAIT_AIO_MASKED, 0, 0);
}

/* If this fails, a server that is polled often never times out a silent client. */
static void
a_timeout_of_a_socket_is_found(void **state)
{
    (void)state;
    skip_without_marks();
    check_kind(WAIT_RECEIVE, -1, EAGAIN);
    check_kind(WAIT_ACCEPT, -1, EAGAIN);
}

/* If this fails, `check` mistakes a running thread that changes blocks for a sleeping one, or stops
 * a sleeping one needlessly. */
static void
a_spared_thread_that_runs_is_noticed(void **state)
{
    static const struct timespec while_ = {.tv_nsec = 1000000};
    static char much[1 << 20];
    struct memory m;
    int ends[2];
    pid_t pid;

    (void)state;
    assert_int_equal(0, pipe(ends));
    pid = fork();
    if (pid == 0)
        _exit(write(ends[1], much, sizeof much) != sizeof much || pause());
    assert_int_equal(0, live_memory_open((uint32_t)pid, &m, NULL));
    do {
        nanosleep(&while_, NULL);
        assert_int_equal(0, live_memory_stop(&m, LIVE_STOP_SPARING));
        live_memory_go_on(&m);
    } while (m.threads[0].asleep_in == NULL);
    assert_int_equal(1, m.thread_count);
    nanosleep(&while_, NULL);
    assert_false(live_memory_moved(&m));
    for (size_t done = 0; done < sizeof much;)
        done += (size_t)read(ends[0], much, sizeof much);
    assert_true(live_memory_moved(&m));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    memory_close(&m);
    close(ends[0]);
    close(ends[1]);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoll_wait_that_is_stopped_often_times_out),
        cmocka_unit_test(a_timeout_in_memory_is_found),
        cmocka_unit_test(a_timeout_of_a_socket_is_found),
        cmocka_unit_test(a_spared_thread_that_runs_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
