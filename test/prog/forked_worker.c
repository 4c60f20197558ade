/* libs: -lpthread */
/* cflags: -fno-builtin */
/* forked_worker.c: in a forked child, let a new thread make the first event.
 *
 *     forked_worker shared       that thread and the main thread then allocate at the same time,
 *                                EVENTS blocks of 24 and of 40 bytes
 *     forked_worker unrecorded   the child may write no file, so recording cannot start
 *     forked_worker limited      the new thread limits the address space to 4 GiB
 *
 * The parent has run a thread, whose stack the child reuses without an allocation. Exits with 1 if
 * the child fails. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EVENTS = 300000 };

static const char *mode;
static sem_t started;

static void __attribute__((noinline))
allocate(size_t size_bytes)
{
    for (int i = 0; i < EVENTS; i++) {
        void *volatile p = malloc(size_bytes);

        free(p);
    }
}

static void *
nothing(void *unused)
{
    free(malloc(10));
    return unused;
}

static void *
work(void *unused)
{
    struct rlimit l = {(rlim_t)4 << 30, RLIM_INFINITY};

    free(malloc(100));
    if (strcmp(mode, "limited") == 0 && setrlimit(RLIMIT_AS, &l) != 0)
        _exit(3);
    sem_post(&started);
    allocate(24);
    return unused;
}

static void
run_child(void)
{
    struct rlimit none = {0, RLIM_INFINITY};
    pthread_t t;

    signal(SIGXFSZ, SIG_IGN);
    if (strcmp(mode, "unrecorded") == 0 && setrlimit(RLIMIT_FSIZE, &none) != 0)
        _exit(4);
    sem_init(&started, 0, 0);
    if (pthread_create(&t, NULL, work, NULL) != 0)
        _exit(5);
    sem_wait(&started);
    allocate(40);
    pthread_join(t, NULL);
    exit(0);
}

int
main(int argc, char **argv)
{
    pthread_t t;
    int status = -1;

    mode = argc > 1 ? argv[1] : "shared";
    free(malloc(10));
    pthread_create(&t, NULL, nothing, NULL);
    pthread_join(t, NULL);
    if (fork() == 0)
        run_child();
    wait(&status);
    return status != 0;
}
