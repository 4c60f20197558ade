/* cflags: -O1 -fno-optimize-sibling-calls */
/* libs: -lpthread */
/* filling.c: allocate from more stacks than a profile has room for. The totals of each allocating
 * function are known.
 *
 *     filling COUNT THREADS [crash]
 *
 * Each of THREADS threads (0: the first one alone) allocates COUNT blocks, each from a new stack 20
 * calls deep. The blocks come in turn from leaf_small (24 bytes), leaf_middle (100) and leaf_large
 * (3000). The same thread frees every second block at once. In between, all threads use the same
 * few stacks of leaf_known, whose blocks of 10 bytes stay live. With "crash", the program ends by
 * SIGSEGV. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "descend.h"

enum { DEPTH = 20, THREADS_MAX = 16 };

static unsigned count;

LEAF(leaf_small, 24)
LEAF(leaf_middle, 100)
LEAF(leaf_large, 3000)
LEAF(leaf_known, 10)

static void *
work(void *arg)
{
    static leaf_fn *const leaves[] = {leaf_small, leaf_middle, leaf_large};

    (void)arg;
    for (unsigned i = 0; i < count; i++) {
        void *p = descend(i * 2654435761u >> 12, DEPTH, leaves[i % 3]);

        if (i / 3 % 2 != 0)
            free(p);
        leaf_known();
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    int number = argc > 2 ? atoi(argv[2]) : 0;
    pthread_t threads[THREADS_MAX];

    count = argc > 1 ? (unsigned)atol(argv[1]) : 6000;
    if (number == 0)
        work(NULL);
    for (int i = 0; i < number; i++)
        if (i < THREADS_MAX && pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < number && i < THREADS_MAX; i++)
        pthread_join(threads[i], NULL);
    if (argc > 3)
        raise(SIGSEGV);
    return 0;
}
