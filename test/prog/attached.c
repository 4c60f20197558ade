/* attached.c: a program for tests of heaptap attach, in these ways:
 *
 *     attached commands          obeys the letters on standard input, one at a time, and answers
 *                                each with the same letter. Allocates in no other way:
 *                                  a  100 blocks of 10 to 109 bytes, and keeps them
 *                                  f  frees all that it keeps
 *                                  c  calloc, realloc, posix_memalign, aligned_alloc, memalign,
 *                                     valloc: one block each, freed at once; with glibc's allocator
 *                                     also pvalloc and reallocarray
 *                                  t  a thread that allocates and frees 50 blocks of 32 bytes
 *                                  k  a forked child that does the same, and must exit with 7
 *                                  w  a forked child that allocates 50 blocks of 32 bytes, keeps
 *                                     them and waits; it ends with its parent
 *                                  v  a thread that waits for the child of a vfork, until V
 *                                  e  executes itself
 *     attached churn THREADS MS  allocates in many threads, which come and go, forks, starts a
 *                                program, loads a library; checks the contents of all blocks. If
 *                                MS is 0, until the end of standard input
 *     attached waits MS          waits in many system calls, and prints those that return EINTR
 *
 * Prints "ok" at the end if all was as expected. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { BLOCKS = 100, KEPT_MAX = 10000, THREAD_BLOCKS = 50, WAYS = 12, SLOTS = 500 };

static atomic_bool stop;
static atomic_long faults;

/* --- Commands --------------------------------------------------------------------------------- */

static void *kept[KEPT_MAX];
static size_t kept_count;

/* Return P, so that the compiler does not know where it comes from. */
__attribute__((noipa)) static void *
opaque(void *p)
{
    return p;
}

static void
all_functions(void)
{
    void *p = opaque(calloc(3, 7));

    p = realloc(p, 100);
    free(p);
    if (posix_memalign(&p, 64, 30) == 0)
        free(p);
    free(opaque(aligned_alloc(32, 64)));
    free(opaque(memalign(128, 20)));
    free(opaque(valloc(10)));
    if (getenv("LD_PRELOAD") == NULL) { // Other allocators lack these.
        free(opaque(pvalloc(11)));
        free(opaque(reallocarray(NULL, 5, 6)));
    }
}

static void *
allocate_some(void *unused)
{
    for (int i = 0; i < THREAD_BLOCKS; i++)
        free(opaque(malloc(32)));
    return unused;
}

static void
in_thread(void)
{
    pthread_t t;

    if (pthread_create(&t, NULL, allocate_some, NULL) != 0 || pthread_join(t, NULL) != 0)
        faults++;
}

static void
in_child(void)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        allocate_some(NULL);
        _exit(7);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 7)
        faults++;
}

static void
waiting_child(void)
{
    int ready[2];
    char byte = 0;

    if (pipe(ready) != 0) {
        faults++;
        return;
    }
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int i = 0; i < THREAD_BLOCKS; i++)
            opaque(malloc(32));
        if (write(ready[1], &byte, 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        faults++;
    close(ready[0]);
}

static int vfork_pipe[2];
static pthread_t vfork_thread;

/* Wait for a child that waits until the other end of the pipe is closed. */
static void *
in_vfork(void *unused)
{
    char byte;
    pid_t child = vfork();

    if (child == 0) {
        close(vfork_pipe[1]);
        while (read(vfork_pipe[0], &byte, 1) > 0)
            ;
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child)
        faults++;
    return unused;
}

static void
begin_vfork(void)
{
    if (pipe(vfork_pipe) != 0 || pthread_create(&vfork_thread, NULL, in_vfork, NULL) != 0)
        faults++;
}

static void
obey(char command)
{
    switch (command) {
    case 'a':
        for (size_t i = 0; i < BLOCKS && kept_count < KEPT_MAX; i++)
            kept[kept_count++] = malloc(10 + i);
        break;
    case 'f':
        while (kept_count > 0)
            free(kept[--kept_count]);
        break;
    case 'c':
        all_functions();
        break;
    case 't':
        in_thread();
        break;
    case 'k':
        in_child();
        break;
    case 'w':
        waiting_child();
        break;
    case 'v':
        begin_vfork();
        break;
    case 'V':
        close(vfork_pipe[1]);
        pthread_join(vfork_thread, NULL);
        break;
    case 'e':
        if (write(STDOUT_FILENO, &command, 1) == 1)
            execl("/proc/self/exe", "attached", "commands", NULL);
        faults++;
        break;
    }
}

static void
commands(void)
{
    char command;

    while (read(STDIN_FILENO, &command, 1) == 1) {
        obey(command);
        if (write(STDOUT_FILENO, &command, 1) != 1)
            faults++;
    }
}

/* --- Churn ------------------------------------------------------------------------------------ */

struct block {
    unsigned char *p, mark;
    size_t bytes;
};

static unsigned
draw(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 8;
}

static void
verify(const struct block *b)
{
    if (b->p != NULL && (b->p[0] != b->mark || b->p[b->bytes - 1] != b->mark))
        faults++;
}

static void
change(struct block *b, unsigned *state)
{
    size_t bytes = 1 + draw(state) % (draw(state) % 64 == 0 ? 200000 : 300);
    unsigned way = draw(state) % 8;
    void *aligned = NULL;

    verify(b);
    if (b->p != NULL && way < 5) {
        free(b->p);
        b->p = NULL;
        return;
    }
    if (b->p != NULL || way == 0)
        b->p = realloc(b->p, bytes);
    else if (way == 1)
        b->p = calloc(1, bytes);
    else if (way == 2)
        b->p = posix_memalign(&aligned, 64, bytes) == 0 ? aligned : NULL;
    else
        b->p = malloc(bytes);
    if (b->p == NULL)
        abort();
    b->bytes = bytes;
    b->mark = (unsigned char)draw(state);
    b->p[0] = b->p[bytes - 1] = b->mark;
}

/* Change blocks until the end, or ROUNDS times if that is not NULL. */
static void *
churn_blocks(void *rounds)
{
    struct block blocks[SLOTS] = {{0}};
    unsigned state = (unsigned)(uintptr_t)&state;
    long left = rounds != NULL ? (long)(intptr_t)rounds : -1;

    while (!stop && left-- != 0)
        change(&blocks[draw(&state) % SLOTS], &state);
    for (int i = 0; i < SLOTS; i++) {
        verify(&blocks[i]);
        free(blocks[i].p);
    }
    return NULL;
}

static void
start_program(void)
{
    char *arguments[] = {"/bin/true", NULL};
    int status = -1;
    pid_t child;

    if (posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0)
        faults++;
}

static void
load_library(void)
{
    void *library = dlopen("libm.so.6", RTLD_NOW);

    if (library != NULL)
        dlclose(library);
}

static void *
churn_threads(void *unused)
{
    for (int i = 0; !stop; i++) {
        pthread_t t;

        if (pthread_create(&t, NULL, churn_blocks, (void *)(intptr_t)2000) != 0 ||
            pthread_join(t, NULL) != 0)
            faults++;
        if (i % 8 == 1)
            load_library();
        if (i % 16 == 5)
            start_program();
        if (i % 16 == 10)
            in_child();
    }
    return unused;
}

static void
pause_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&left, &left) != 0)
        ;
}

static void
churn(int threads, long ms)
{
    pthread_t t[64];
    char byte;

    for (int i = 0; i < threads && i < 64; i++)
        if (pthread_create(&t[i], NULL, i == 0 ? churn_threads : churn_blocks, NULL) != 0)
            abort();
    if (ms > 0)
        pause_ms(ms);
    while (ms == 0 && read(STDIN_FILENO, &byte, 1) > 0)
        ;
    stop = true;
    for (int i = 0; i < threads && i < 64; i++)
        pthread_join(t[i], NULL);
}

/* --- Waits ------------------------------------------------------------------------------------ */

/* Wait once in the system call number WAY. Return its result. */
static long
wait_in(int way, const int *pair)
{
    struct timespec second = {1000, 0}, at;
    struct pollfd p = {pair[0], POLLIN, 0};
    struct timeval limit = {1000, 0};
    struct sembuf down = {0, -1, 0};
    struct epoll_event event;
    fd_set set;
    sigset_t signals;
    sem_t semaphore;
    uint64_t count;
    char byte;

    switch (way) {
    case 0:
        return epoll_wait(epoll_create1(EPOLL_CLOEXEC), &event, 1, 1000000);
    case 1:
        return nanosleep(&second, NULL);
    case 2:
        return poll(&p, 1, 1000000);
    case 3:
        FD_ZERO(&set);
        FD_SET(pair[0], &set);
        return select(pair[0] + 1, &set, NULL, NULL, &limit);
    case 4:
        return read(pair[0], &byte, 1);
    case 5:
        sigemptyset(&signals);
        sigaddset(&signals, SIGUSR1);
        return sigtimedwait(&signals, NULL, &second);
    case 6:
        return semop(semget(IPC_PRIVATE, 1, 0600), &down, 1);
    case 7:
        return recv(pair[1], &byte, 1, 0);
    case 8:
        return read(eventfd(0, EFD_CLOEXEC), &count, sizeof count);
    case 9:
        sem_init(&semaphore, 0, 0);
        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_sec += 1000;
        return sem_timedwait(&semaphore, &at);
    case 10:
        return setsockopt(pair[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0
                   ? -1
                   : recv(pair[1], &byte, 1, 0);
    default:
        return clock_nanosleep(CLOCK_MONOTONIC, 0, &second, NULL) == EINTR
                   ? (errno = EINTR, -1)
                   : 0;
    }
}

static void *
wait_forever(void *way)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        abort();
    errno = 0;
    if (wait_in((int)(intptr_t)way, pair) < 0 && errno == EINTR) {
        faults++;
        dprintf(STDOUT_FILENO, "way %d: EINTR\n", (int)(intptr_t)way);
    }
    return NULL;
}

static void
waits(long ms)
{
    for (intptr_t way = 0; way < WAYS; way++) {
        pthread_t t;

        if (pthread_create(&t, NULL, wait_forever, (void *)way) != 0)
            abort();
    }
    pause_ms(ms);
}

int
main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    if (strcmp(how, "commands") == 0)
        commands();
    else if (strcmp(how, "churn") == 0 && argc > 3)
        churn(atoi(argv[2]), atol(argv[3]));
    else if (strcmp(how, "waits") == 0 && argc > 2)
        waits(atol(argv[2]));
    else
        return 2;
    if (faults != 0)
        dprintf(STDOUT_FILENO, "%ld faults\n", (long)faults);
    else
        dprintf(STDOUT_FILENO, "ok\n");
    _exit(faults != 0);
}
