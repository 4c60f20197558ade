/* called.cc: allocation sites with known totals, and callers with known shares, for run/callers.
 *
 *     called totals      the functions below, in two threads and a child
 *     called shares      make_block is called by caller_0 to caller_11, in a random order that is
 *                        always the same: how often is in times_called
 *     called rare        rare_caller calls 120 functions that allocate 3 blocks each
 *
 * Every function that allocates is a separate site. xmalloc and std::vector are between some of
 * them and malloc. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#define OWN __attribute__((noinline, noclone))
#define USED(p) __asm__ volatile("" : : "r"(p) : "memory")

enum { ROUNDS = 20000, MADE = 20000 };

extern "C" {

OWN void *
xmalloc(size_t size_bytes)
{
    void *p = malloc(size_bytes);

    USED(p);
    return p;
}

/* 48 bytes, behind a wrapper. */
OWN void *
wrapped_site(void)
{
    void *p = xmalloc(48);

    USED(p);
    return p;
}

OWN void *
caller_left(void)
{
    void *p = wrapped_site();

    USED(p);
    return p;
}

OWN void *
caller_right(void)
{
    void *p = wrapped_site();

    USED(p);
    return p;
}

OWN void *
zeroed_site(void)
{
    void *p = calloc(3, 100);

    USED(p);
    return p;
}

OWN void *
grown_site(void *p, size_t size_bytes)
{
    p = realloc(p, size_bytes);
    USED(p);
    return p;
}

OWN void *
aligned_site(void)
{
    void *p = NULL;

    if (posix_memalign(&p, 64, 640) != 0)
        abort();
    USED(p);
    return p;
}

OWN void *
handed_site(void)
{
    void *p = malloc(24);

    USED(p);
    return p;
}

OWN void *
large_site(void)
{
    void *p = malloc(5000);

    USED(p);
    return p;
}
}

OWN static int *
created_site()
{
    int *p = new int[30];

    USED(p);
    return p;
}

OWN static void
vector_site()
{
    std::vector<long> v;

    v.reserve(25);
    USED(v.data());
}

static void *handed[ROUNDS];

/* Free what main has allocated, and allocate as well. */
static void *
other_thread(void *)
{
    for (int i = 0; i < ROUNDS; i++) {
        free(handed[i]);
        free(i % 4 == 0 ? caller_left() : caller_right());
    }
    return NULL;
}

static void
in_child()
{
    for (int i = 0; i < 1000; i++)
        free(zeroed_site());
}

static int
totals()
{
    pthread_t thread;
    void *grown = NULL;
    pid_t child;

    for (int i = 0; i < ROUNDS; i++) {
        void *p = i % 2 == 0 ? caller_left() : caller_right();

        if (i % 10 != 0)
            free(p);
        free(zeroed_site());
        grown = grown_site(i % 5 == 0 ? NULL : grown, 100 + (size_t)(i % 5) * 100);
        if (i % 5 == 4)
            free(grown);
        if (i % 100 == 0)
            large_site();
        free(aligned_site());
        handed[i] = handed_site();
        delete[] created_site();
        vector_site();
    }
    if (pthread_create(&thread, NULL, other_thread, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    child = fork();
    if (child == 0) {
        in_child();
        exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}

static long made;

OWN static void *
make_block(size_t size_bytes)
{
    void *p = malloc(size_bytes);

    made++; // Or the compiler would make one function of this and xmalloc.
    USED(p);
    return p;
}

#define CALLER(n)                                                                                  \
    extern "C" OWN void caller_##n(uint64_t random)                                                \
    {                                                                                              \
        void *p = make_block(60 + n * 10);                                                         \
                                                                                                   \
        if (random % 16 != n)                                                                      \
            free(p);                                                                               \
        USED(p);                                                                                   \
    }

CALLER(0) CALLER(1) CALLER(2) CALLER(3) CALLER(4) CALLER(5)
CALLER(6) CALLER(7) CALLER(8) CALLER(9) CALLER(10) CALLER(11)

static void (*const callers[])(uint64_t) = {caller_0, caller_1, caller_2, caller_3,
                                            caller_4, caller_5, caller_6, caller_7,
                                            caller_8, caller_9, caller_10, caller_11};

/* By caller; the sum is MADE. */
static const int times_called[] = {9000, 5000, 2500, 1200, 800, 600, 400, 250, 120, 80, 40, 10};

/* Print the truth: the number, bytes, live blocks and live bytes of each caller. */
static int
shares()
{
    static unsigned char order[MADE];
    uint64_t random = 1;
    long live[12] = {0};
    int n = 0;

    for (int i = 0; i < 12; i++)
        for (int k = 0; k < times_called[i]; k++)
            order[n++] = (unsigned char)i;
    for (int i = MADE; i-- > 1;) {
        int k;
        unsigned char swapped = order[i];

        random = random * 6364136223846793005u + 1442695040888963407u;
        k = (int)((random >> 33) % (uint64_t)(i + 1));
        order[i] = order[k];
        order[k] = swapped;
    }
    for (int i = 0; i < MADE; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        callers[order[i]](random >> 33);
        live[order[i]] += (random >> 33) % 16 == order[i];
    }
    for (int i = 0; i < 12; i++)
        printf("caller_%d %d %d %ld %ld\n", i, times_called[i], times_called[i] * (60 + i * 10),
               live[i], live[i] * (60 + i * 10));
    return 0;
}

enum { RARE_SITES = 120 };

template <int N>
OWN static void
rare_site(int kept)
{
    void *p = malloc(32);

    made += N; // Or the compiler would make one function of all.
    USED(p);
    if (!kept)
        free(p);
}

template <int N>
OWN static void
rare_sites(int kept)
{
    rare_site<N>(kept);
    if constexpr (N > 1)
        rare_sites<N - 1>(kept);
}

extern "C" OWN void
rare_caller(int kept)
{
    rare_sites<RARE_SITES>(kept);
    made++;
}

static int
rare()
{
    for (int i = 0; i < 3; i++)
        rare_caller(i == 0);
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "rare") == 0)
        return rare();
    return argc > 1 && strcmp(argv[1], "shares") == 0 ? shares() : totals();
}
