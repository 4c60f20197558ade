/* waits.c: let threads wait in system calls that a stop interrupts.
 *
 *     waits FILE TIMED   no handler is ever called; prints how many calls failed with EINTR
 *
 * Creates FILE when all threads wait, and ends with its standard input. The semaphore set is
 * removed before that. A byte on standard input starts an epoll_wait of 200 ms, after which TIMED
 * is created. */
/* libs: -lpthread */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { KINDS = 6, WAIT_S = 100, TIMED_MS = 200 };

static atomic_int interrupted;
static int semaphores;

static int
wait_once(int kind, int fd)
{
    struct timespec ts = {WAIT_S, 0};
    struct epoll_event event;
    struct sembuf take = {0, -1, 0};
    sigset_t set;
    char text[512];

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    switch (kind) {
    case 0:
        return epoll_wait(fd, &event, 1, WAIT_S * 1000);
    case 1:
        return nanosleep(&ts, NULL);
    case 2:
        return sigtimedwait(&set, NULL, &ts);
    case 3:
        return semop(semaphores, &take, 1);
    case 4:
        return (int)recv(fd, text, 1, 0);
    default:
        return (int)read(fd, text, sizeof text);
    }
}

static void *
wait_for_ever(void *arg)
{
    int kind = *(int *)arg, fd = -1, pair[2];
    struct timeval limit = {WAIT_S, 0};

    if (kind == 0)
        fd = epoll_create1(0);
    if (kind == 4) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
            abort();
        fd = pair[0];
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    }
    if (kind == 5)
        fd = inotify_init1(0);
    for (;;)
        if (wait_once(kind, fd) < 0 && errno == EINTR)
            interrupted++;
    return NULL;
}

static void
make_file(const char *path)
{
    close(open(path, O_CREAT | O_WRONLY, 0600));
}

static void *
wait_for_a_while(void *path)
{
    struct epoll_event event;

    if (epoll_wait(epoll_create1(0), &event, 1, TIMED_MS) == 0)
        make_file(path);
    return NULL;
}

int
main(int argc, char **argv)
{
    static int kinds[KINDS];
    pthread_t threads[KINDS], timed;
    ssize_t got;
    char byte;

    if (argc < 3)
        return 2;
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    for (int i = 0; i < KINDS; i++) {
        kinds[i] = i;
        pthread_create(&threads[i], NULL, wait_for_ever, &kinds[i]);
    }
    usleep(200000);
    make_file(argv[1]);
    while ((got = read(0, &byte, 1)) > 0)
        pthread_create(&timed, NULL, wait_for_a_while, argv[2]);
    if (got < 0)
        return 3;
    printf("interrupted %d\n", interrupted);
    fflush(stdout);
    semctl(semaphores, 0, IPC_RMID);
    _exit(0);
}
