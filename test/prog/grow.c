/* cflags: -fno-builtin -O0 */
/* libs: -lpthread */
/* grow.c: make every table of a profile grow, and fork.
 *
 *   grow [LEVELS [THREADS]]         (default: 9 and 20)
 *
 * All 2^LEVELS paths of LEVELS calls end in a function that allocates, so nodes, sites and counters
 * grow. A function with many callees overflows a node's cache line of children. THREADS threads
 * that exist at once make rows and bins grow. Blocks with much slack are stored in the ledger's
 * side table. Then a child does the same on a small scale. The words on stdout depend on the
 * arguments alone. */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

static pthread_barrier_t barrier;
static uint64_t sums[THREADS_MAX];
static int levels = 9;

/* Write to both ends of a block and read them again, to detect a missing block. */
static __attribute__((noinline)) uint64_t
leaf(uint64_t x)
{
    size_t size = 16 + (x * 37) % 900;
    unsigned char *p = malloc(size);
    uint64_t sum;

    p[0] = (unsigned char)x;
    p[size - 1] = (unsigned char)(x >> 3);
    p = realloc(p, size * 2);
    sum = p[0] + 256u * p[size - 1] + malloc_usable_size(p) / 4096;
    free(p);
    return sum;
}

static uint64_t left(int level, uint64_t path);

static __attribute__((noinline)) uint64_t
right(int level, uint64_t path)
{
    if (level == 0)
        return leaf(path) + 1;
    return left(level - 1, path * 2) + right(level - 1, path * 2 + 1) * 3;
}

static __attribute__((noinline)) uint64_t
left(int level, uint64_t path)
{
    if (level == 0)
        return leaf(path) + 2;
    return right(level - 1, path * 2) * 3 + left(level - 1, path * 2 + 1);
}

/* Call one function from ten places, and allocate blocks large enough to be mapped separately. */
static uint64_t
wide(void)
{
    uint64_t sum = 0;
    char *big[4];

    sum += leaf(1);
    sum += leaf(2) * 2;
    sum += leaf(3) * 3;
    sum += leaf(4) * 4;
    sum += leaf(5) * 5;
    sum += leaf(6) * 6;
    sum += leaf(7) * 7;
    sum += leaf(8) * 8;
    sum += leaf(9) * 9;
    sum += leaf(10) * 10;
    for (int i = 0; i < 4; i++) {
        big[i] = calloc(1, 300000 + 1000 * (size_t)i);
        memset(big[i], i + 1, 300);
        sum += (uint64_t)big[i][299];
    }
    for (int i = 0; i < 4; i++)
        free(big[i]);
    return sum;
}

static void *
work(void *arg)
{
    uint64_t *sum = arg;

    pthread_barrier_wait(&barrier);
    *sum = wide() + left(4, 1);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static uint64_t
run_threads(int count)
{
    pthread_t threads[THREADS_MAX];
    uint64_t sum = 0;

    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, &sums[i]) != 0)
            abort();
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum += sums[i] * (uint64_t)(i + 1);
    }
    return sum;
}

static uint64_t
run_child(void)
{
    int status = 0;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        printf("child %lu\n", (unsigned long)(left(5, 1) + wide()));
        exit(5);
    }
    waitpid(pid, &status, 0);
    return (uint64_t)status;
}

int
main(int argc, char **argv)
{
    int threads = 20;
    void *kept;

    if (argc > 1)
        levels = atoi(argv[1]);
    if (argc > 2)
        threads = atoi(argv[2]) < THREADS_MAX ? atoi(argv[2]) : THREADS_MAX;
    kept = malloc(12345);
    printf("tree %lu\n", (unsigned long)left(levels, 1));
    printf("wide %lu\n", (unsigned long)wide());
    printf("threads %lu\n", (unsigned long)run_threads(threads));
    printf("status %lu\n", (unsigned long)run_child());
    free(kept);
    return 7;
}
