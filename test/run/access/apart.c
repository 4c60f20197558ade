/* apart.c: access blocks in ways with known numbers of reads and writes. apart.py builds it with
 * the available compilers. Each kind of block has a different size. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static void *volatile kept;
static volatile uint64_t seen;

/* 192 bytes: 4 writes, then 1000 times 4 reads, in the first 4 words; another word is only written,
 * 7 times, and another only read, 9 times. */
static NOINLINE void
list(void)
{
    volatile uint64_t *nodes[10];

    for (int i = 0; i < 10; i++) {
        nodes[i] = malloc(192);
        for (int j = 0; j < 4; j++)
            nodes[i][j] = (uint64_t)j;
        for (int j = 0; j < 7; j++)
            nodes[i][10] = 1;
        for (int j = 0; j < 9; j++)
            seen += nodes[i][20];
    }
    for (int turn = 0; turn < 1000; turn++)
        for (int i = 0; i < 10; i++)
            for (int j = 0; j < 4; j++)
                seen += nodes[i][j];
    for (int i = 0; i < 10; i++)
        free((void *)nodes[i]);
}

/* 1000 bytes, 3 blocks: filled, never read. 1008 bytes: zeros, read 126 times. */
static NOINLINE void
one_way(void)
{
    volatile uint64_t *p;

    for (int turn = 0; turn < 3; turn++) {
        p = malloc(1000);
        for (int i = 0; i < 125; i++)
            p[i] = 1;
        free((void *)p);
    }
    p = calloc(126, 8);
    for (int i = 0; i < 126; i++)
        seen += p[i];
    free((void *)p);
}

/* 424 bytes: 10 atomic additions, 5 exchanges and 2 comparisons, each a read and a write, which
 * clang counts as a write; 3 atomic loads and 4 atomic stores. 56 bytes: 6 additions that are not
 * atomic, each a read and a write. */
static NOINLINE void
changed(void)
{
    _Atomic uint64_t *a = malloc(424);
    volatile uint64_t *p = malloc(56);
    uint64_t there = 77;

    kept = a;
    for (int i = 0; i < 10; i++)
        atomic_fetch_add(a, 1);
    for (int i = 0; i < 5; i++)
        seen += atomic_exchange(a, 77);
    for (int i = 0; i < 2; i++)
        atomic_compare_exchange_strong(a, &there, 77);
    for (int i = 0; i < 3; i++)
        seen += atomic_load(a);
    for (int i = 0; i < 4; i++)
        atomic_store(a, 5);
    for (int i = 0; i < 6; i++)
        p[0]++;
    free(kept);
    free((void *)p);
}

/* memcpy of 64 bytes, 8 words, from a block of 72 bytes to a block of 88. memcmp of the two reads 8
 * words of each. */
static NOINLINE void
copied(void)
{
    void *volatile from = malloc(72), *volatile to = malloc(88);

    memcpy(to, from, 64);
    seen += (uint64_t)memcmp(to, from, 64);
    free(from);
    free(to);
}

/* 48 bytes: memset of 48 (6 words written), strcpy of 17 (3 written), strlen (3 read), strcat of 4
 * (3 read, then 20 .. 24 written: 1 or 2 words), memmove within (2 read, 2 written). */
static NOINLINE void
strings(void)
{
    char *volatile p = malloc(48);

    memset(p, 0, 48);
    strcpy(p, "sixteen letters.");
    seen += strlen(p);
    strcat(p, "four");
    memmove(p + 24, p, 16);
    free(p);
}

/* 104 bytes: write() to a pipe reads 13 words of the block. 120: read() from the pipe writes 13
 * words. 136: snprintf writes 10 bytes. */
static NOINLINE void
passed(void)
{
    void *volatile from = malloc(104), *volatile to = malloc(120);
    char *volatile text = malloc(136);
    int pipes[2];

    if (pipe(pipes) != 0 || write(pipes[1], from, 104) != 104 || read(pipes[0], to, 104) != 104)
        abort();
    snprintf(text, 136, "%d", 123456789 + (int)(seen & 0));
    free(from);
    free(to);
    free(text);
}

/* 80 bytes with 5 writes; then 272 with 7 writes and 3 reads. */
static NOINLINE void
grown(void)
{
    volatile char *p = malloc(80);

    for (int i = 0; i < 5; i++)
        p[i] = 1;
    p = realloc((void *)p, 272);
    for (int i = 0; i < 7; i++)
        p[i] = 1;
    for (int i = 0; i < 3; i++)
        seen += (uint64_t)p[i];
    free((void *)p);
}

/* 728 bytes with 1 write, freed by realloc. Then a block grows at one place from 23 bytes to 151,
 * 1217 and 4863, in different size classes, with 1 write at each size. */
static NOINLINE void
logged(void)
{
    static const size_t sizes[] = {23, 151, 1217, 4863};
    volatile char *p = malloc(728);

    p[0] = 1;
    p = realloc((void *)p, 0);
    for (int i = 0; i < 4; i++) {
        p = realloc((void *)p, sizes[i]);
        p[0] = 1;
    }
    free((void *)p);
}

static void *
hit(void *p)
{
    for (int i = 0; i < 300000; i++) {
        *(volatile uint64_t *)p = 1;
        seen += *(volatile uint64_t *)p;
        seen += *(volatile uint64_t *)p;
    }
    return NULL;
}

/* 400 bytes: to one word 600000 writes and 1200000 reads, by two threads. */
static NOINLINE void
threads(void)
{
    void *volatile p = malloc(400);
    pthread_t other;

    pthread_create(&other, NULL, hit, p);
    hit(p);
    pthread_join(other, NULL);
    free(p);
}

int
main(int argc, char **argv)
{
    list();
    one_way();
    changed();
    copied();
    strings();
    passed();
    grown();
    logged();
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        threads();
    kept = malloc(416); // A block that is live at the end: 2 writes, 1 read.
    ((volatile char *)kept)[0] = 1;
    ((volatile char *)kept)[1] = 1;
    seen += (uint64_t)((volatile char *)kept)[0];
    return 0;
}
