/* truth.c: access blocks with known numbers and places of accesses. truth.py builds it with the
 * available compilers. Each kind of block has a different size, which identifies its site.
 *
 * The counted memory is volatile. So each access in the source is an access of the program at any
 * optimisation level, except in the loops of `vectors`, which compilers should vectorise. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static void *volatile kept; // Volatile, so that the accesses are not optimised away.
static volatile uint64_t seen;
char copied[192];

/* 192 bytes: 4 writes, then 1000 times 4 reads, in the first 4 words. */
static NOINLINE void
list(void)
{
    volatile uint64_t *nodes[100];

    for (int i = 0; i < 100; i++) {
        nodes[i] = malloc(192);
        for (int j = 0; j < 4; j++)
            nodes[i][j] = (uint64_t)j;
    }
    for (int turn = 0; turn < 1000; turn++)
        for (int i = 0; i < 100; i++)
            for (int j = 0; j < 4; j++)
                seen += nodes[i][j];
    for (int i = 0; i < 100; i++)
        free((void *)nodes[i]);
}

/* SIZE bytes, 50 times in the same place: 600 to 698 writes to the first byte. The neighbouring
 * block of 40 bytes is untouched. */
static NOINLINE void
reuse(size_t size)
{
    void *next = NULL;

    for (int i = 0; i < 50; i++) {
        volatile char *p = malloc(size);

        if (next == NULL)
            kept = next = malloc(40);
        for (int j = 0; j < 600 + 2 * i; j++)
            p[0] = 1;
        free((void *)p);
    }
    free(next);
}

/* 1 MiB, live at the end: 8192 writes, each to a granule of 32 bytes in the first quarter, and one
 * read. */
static NOINLINE void
large(void)
{
    volatile char *p = malloc(1 << 20);

    for (int i = 0; i < 1 << 18; i += 32)
        p[i] = 1;
    seen += (uint64_t)p[32];
    kept = (void *)p;
}

/* 4096 bytes, twice: 512 reads each, and for the second block, 192 bytes (24 words) are copied out
 * of it. */
static NOINLINE void
zeros(void)
{
    for (int turn = 0; turn < 2; turn++) {
        volatile uint64_t *p = calloc(512, 8);

        for (int i = 0; i < 512; i++)
            seen += p[i];
        if (turn == 1)
            memcpy(copied, (void *)p, sizeof copied);
        free((void *)p);
    }
}

/* 80 bytes: 16 writes; then 272: 64 writes. */
static NOINLINE void
grown(void)
{
    volatile int *p = malloc(80);

    for (int i = 0; i < 16; i++)
        p[i] = i;
    p = realloc((void *)p, 272);
    for (int i = 0; i < 64; i++)
        p[i] = i;
    free((void *)p);
}

/* 1000 untouched bytes. */
static NOINLINE void
untouched(void)
{
    kept = malloc(1000);
    free(kept);
}

/* 104 bytes, three blocks: in each, 70000 reads and writes of one word, and few writes of three
 * others. */
static NOINLINE void
words(void)
{
    for (int turn = 0; turn < 3; turn++) {
        volatile uint64_t *p = malloc(104);

        for (int i = 0; i < 70000; i++)
            p[0]++; // This is a read and a write.
        p[1] = 1;
        for (int i = 0; i < 7000; i++)
            p[8] = 1;
        for (int i = 0; i < 5; i++)
            ((volatile char *)p)[103] = 1;
        free((void *)p);
    }
}

static NOINLINE void
fill(uint64_t *a, int count)
{
    for (int i = 0; i < count; i++)
        a[i] = (uint64_t)i * 3;
}

static NOINLINE uint64_t
sum(const uint64_t *a, int count)
{
    uint64_t s = 0;

    for (int i = 0; i < count; i++)
        s += a[i];
    return s;
}

/* 528 bytes: each of 66 words is written once and read once, in loops that vectorise. */
static NOINLINE void
vectors(void)
{
    uint64_t *a = malloc(528);

    fill(a, 66);
    seen += sum(a, 66);
    free(a);
}

/* 48 bytes: strcpy of 17 (3 words), strlen (3 words), memset of 48 (6 words), memcmp (6 words). */
static NOINLINE void
strings(void)
{
    static const char text[] = "sixteen letters.";
    static const char zero[48];
    char *p = malloc(48);

    kept = p;
    strcpy(kept, text);
    seen += strlen(kept);
    memset(kept, 0, 48);
    seen += (uint64_t)memcmp(kept, zero, 48);
    free(kept);
}

/* Run on the COUNTth processor that this process may run on. */
static void
run_on(const cpu_set_t *all, int count)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, all) && count-- == 0)
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* 336 bytes: ten blocks; seven are freed on another processor. */
static NOINLINE void
migrated(void)
{
    void *blocks[10];
    cpu_set_t all;

    sched_getaffinity(0, sizeof all, &all);
    run_on(&all, 0);
    for (int i = 0; i < 10; i++)
        kept = blocks[i] = malloc(336);
    run_on(&all, 1);
    for (int i = 0; i < 7; i++)
        free(blocks[i]);
    run_on(&all, 0);
    for (int i = 7; i < 10; i++)
        free(blocks[i]);
    sched_setaffinity(0, sizeof all, &all);
}

static NOINLINE void *
taken(void)
{
    kept = malloc(352);
    usleep(2000);
    return kept;
}

/* 352 bytes: five blocks that follow each other, then four that live at once, each for at least 2
 * ms. */
static NOINLINE void
overlapping(void)
{
    void *blocks[4];

    for (int i = 0; i < 5; i++) {
        free(taken());
        usleep(1000);
    }
    for (int i = 0; i < 4; i++)
        blocks[i] = taken();
    for (int i = 0; i < 4; i++)
        free(blocks[i]);
}

/* 368 bytes: one block lives 30 ms, one 60 ms. */
static NOINLINE void
lifetimes(void)
{
    for (int i = 1; i <= 2; i++) {
        kept = malloc(368);
        usleep((useconds_t)i * 30000);
        free(kept);
    }
}

static void *
hit(void *p)
{
    for (int i = 0; i < 1000000; i++)
        *(volatile uint64_t *)p = 1;
    return NULL;
}

/* 400 bytes: a million writes to one word by each of two threads. */
static NOINLINE void
threads(void)
{
    void *p = malloc(400);
    pthread_t other;

    pthread_create(&other, NULL, hit, p);
    hit(p);
    pthread_join(other, NULL);
    free(p);
}

int __memprof_profile_dump(void) __attribute__((weak));
void __memprof_profile_reset(void) __attribute__((weak));

/* 416 bytes: two blocks are live at the first merge, with a write each. One of them is freed then,
 * with another write, and one more is allocated. Then the process is killed, or merges once
 * more. */
static NOINLINE void
merges(int killed)
{
    volatile char *p[3];

    for (int i = 0; i < 2; i++) {
        p[i] = malloc(416);
        p[i][0] = 1;
    }
    if (__memprof_profile_dump() != 0)
        abort();
    p[0][0] = 1;
    free((void *)p[0]);
    kept = malloc(416);
    if (killed)
        kill(getpid(), SIGKILL);
    __memprof_profile_dump();
}

/* 432 bytes, with 3 writes, live for at most 20 seconds while other blocks are allocated and freed.
 * The program prints a line when the block exists. */
static NOINLINE void
stays(void)
{
    volatile char *p = malloc(432);

    for (int i = 0; i < 3; i++)
        p[i] = 1;
    kept = (void *)p;
    if (write(STDOUT_FILENO, "there\n", 6) != 6)
        return;
    for (int i = 0; i < 20000; i++) {
        for (int j = 0; j < 100; j++) {
            kept = malloc(10);
            free(kept);
        }
        usleep(1000);
    }
    seen += (uint64_t)p[0];
}

int
main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "stays") == 0)
        stays();
    else if (argc > 1 && strcmp(argv[1], "killed") == 0)
        merges(1);
    else if (argc > 1 && strcmp(argv[1], "merges") == 0)
        merges(0);
    else if (argc > 1 && strcmp(argv[1], "threads") == 0)
        threads();
    else {
        list();
        reuse(24);
        reuse(100);
        large();
        zeros();
        grown();
        untouched();
        words();
        vectors();
        strings();
        migrated();
        overlapping();
        lifetimes();
    }
    return 0;
}
