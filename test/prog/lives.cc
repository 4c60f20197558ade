/* libs: -lpthread */
/* cflags: -fno-builtin */
/* lives.cc: blocks with known lives, in allocations of their thread.
 *
 *     function    blocks  freed after            before 1  within 16  within 256
 *     lifo           100  0 others                    100        100         100
 *     nested         100  1 other, every second         50       100         100
 *     queue_D       1000  D others, all but D of them    0   1000 - D    1000 - D    D < 16
 *                                                        0          0    1000 - D    D < 256
 *                                                        0          0           0    D = 256, 257
 *     by_, of_        50  3 others, all but 3            0         47          47
 *     grown          400  100 freed at once, 300 moved 100        100         100
 *     moved_on       100  moved after 1 other            0          0           0
 *     given_away     100  by another thread              0          0           0
 *     inherited       10  by a thread that comes later   0          0           0
 *     handled        100  0 others, in a handler       100        100         100
 *     around         100  1 other, by the handler        0        100         100
 *
 * With the argument "fork", the program only allocates 10 blocks in `before`, which a child frees,
 * and 20 in `child`, each freed after 1 other, except for the last. */
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#define APART __attribute__((noinline, noclone))

static void *volatile handed_over;
static sem_t full, empty;

APART static void
lifo()
{
    for (int i = 0; i < 100; i++)
        free(malloc(40));
}

APART static void
nested()
{
    for (int i = 0; i < 50; i++) {
        void *a = malloc(40), *b = malloc(50);

        free(b);
        free(a);
    }
}

/* Define a queue of DEPTH entries; the last ones stay live. */
#define QUEUE(name, count, depth, get, put)                                                        \
    APART static void name()                                                                       \
    {                                                                                              \
        static void *queue[(depth) + 1];                                                           \
                                                                                                   \
        for (int i = 0; i < (count); i++) {                                                        \
            queue[i % ((depth) + 1)] = get;                                                        \
            if (i >= (depth))                                                                      \
                put(queue[(i + 1) % ((depth) + 1)]);                                               \
        }                                                                                          \
    }

QUEUE(queue_1, 1000, 1, malloc(24), free)
QUEUE(queue_15, 1000, 15, malloc(24), free)
QUEUE(queue_16, 1000, 16, malloc(24), free)
QUEUE(queue_17, 1000, 17, malloc(24), free)
QUEUE(queue_255, 1000, 255, malloc(24), free)
QUEUE(queue_256, 1000, 256, malloc(24), free)
QUEUE(queue_257, 1000, 257, malloc(24), free)

static void *
new_posix()
{
    void *p = NULL;

    return posix_memalign(&p, 64, 100) == 0 ? p : NULL;
}

static void
delete_one(void *p)
{
    operator delete(p);
}

static void
delete_array(void *p)
{
    operator delete[](p);
}

static void
delete_aligned(void *p)
{
    operator delete(p, std::align_val_t(64));
}

QUEUE(by_calloc, 50, 3, calloc(3, 30), free)
QUEUE(by_realloc, 50, 3, realloc(NULL, 70), free)
QUEUE(by_memalign, 50, 3, memalign(64, 100), free)
QUEUE(by_aligned_alloc, 50, 3, aligned_alloc(64, 128), free)
QUEUE(by_posix_memalign, 50, 3, new_posix(), free)
QUEUE(by_new, 50, 3, operator new(60), delete_one)
QUEUE(by_new_array, 50, 3, operator new[](60), delete_array)
QUEUE(by_new_aligned, 50, 3, operator new(60, std::align_val_t(64)), delete_aligned)
QUEUE(by_valloc, 50, 3, valloc(10), free)
QUEUE(of_nothing, 50, 3, malloc(0), free)
QUEUE(of_a_mebibyte, 50, 3, malloc(1 << 20), free)
QUEUE(of_pages, 50, 3, pvalloc(1), free) // The slack does not fit into the ledger's byte.

APART static void
grown()
{
    for (int i = 0; i < 100; i++) {
        void *p = malloc(40);

        p = realloc(p, 400);
        p = realloc(p, 4000);
        p = realloc(p, 40000);
        free(p);
    }
}

static void *moved[100];

APART static void
moved_on()
{
    for (int i = 0; i < 100; i++)
        moved[i] = malloc(100);
}

APART static void
moves()
{
    for (int i = 99; i >= 0; i--)
        moved[i] = realloc(moved[i], 200);
}

static void *
free_them(void *arg)
{
    for (int i = 0; i < 100; i++) {
        sem_wait(&full);
        free(handed_over);
        sem_post(&empty);
    }
    return arg;
}

APART static void
given_away()
{
    for (int i = 0; i < 100; i++) {
        handed_over = malloc(40);
        sem_post(&full);
        sem_wait(&empty);
    }
}

static void *left[10];

APART static void
inherited()
{
    for (int i = 0; i < 10; i++)
        left[i] = malloc(48);
}

static void *
leave(void *arg)
{
    inherited();
    return arg;
}

/* This thread has the same name as the other, so it is counted in the same row. */
static void *
take_over(void *arg)
{
    for (int i = 9; i >= 0; i--)
        free(left[i]);
    return arg;
}

APART static void
handled(int number)
{
    void *p = malloc(30);

    free(p);
    (void)number;
}

APART static void
around()
{
    for (int i = 0; i < 100; i++) {
        void *p = malloc(20);

        raise(SIGUSR1);
        free(p);
    }
}

APART static void
before()
{
    for (int i = 0; i < 10; i++)
        left[i] = malloc(47);
}

QUEUE(child, 20, 1, malloc(56), free)

static int
with_fork()
{
    int status = 0;

    before();
    if (fork() == 0) {
        for (int i = 9; i >= 0; i--)
            free(left[i]);
        child();
        _exit(0);
    }
    wait(&status);
    return status;
}

static void
in_thread(void *(*f)(void *))
{
    pthread_t other;

    pthread_create(&other, NULL, f, NULL);
    pthread_join(other, NULL);
}

int
main(int argc, char **argv)
{
    void (*const all[])() = {
        lifo, nested, queue_1, queue_15, queue_16, queue_17, queue_255, queue_256, queue_257,
        by_calloc, by_realloc, by_memalign, by_aligned_alloc, by_posix_memalign, by_new,
        by_new_array, by_new_aligned, by_valloc, of_nothing, of_a_mebibyte, of_pages, grown,
        moved_on, moves};
    pthread_t other;

    if (argc > 1 && strcmp(argv[1], "fork") == 0)
        return with_fork();
    for (void (*f)() : all)
        f();
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 0);
    pthread_create(&other, NULL, free_them, NULL);
    given_away();
    pthread_join(other, NULL);
    in_thread(leave);
    in_thread(take_over);
    signal(SIGUSR1, handled);
    around();
    return 0;
}
