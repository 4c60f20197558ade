/* libs: -lpthread */
/* cflags: -fno-builtin */
/* forked_at_once.c: in a forked child, THREADS threads make the first events, all at once, EVENTS
 * allocations each. The parent has run as many threads, whose stacks the child reuses without an
 * allocation. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, EVENTS = 3000 };

static void *
allocate(void *unused)
{
    for (int i = 0; i < EVENTS; i++) {
        void *volatile p = malloc(100);

        free(p);
    }
    return unused;
}

static void
run_threads(void)
{
    pthread_t t[THREADS];

    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&t[i], NULL, allocate, NULL) != 0)
            _exit(1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

int
main(void)
{
    int status = -1;

    run_threads();
    if (fork() == 0) {
        run_threads();
        _exit(0);
    }
    wait(&status);
    return status != 0;
}
