/* cflags: -fno-builtin -O0 -g */
/* libs: -lpthread */
/* stale_words.c: blocks whose pointers are left in dead parts of live stacks, and blocks that are
 * lost for sure. It says "ready" and waits. For each line it frees the block that hide() hid, loses
 * 10 more blocks of 100 bytes in grow(), says "ready" and waits.
 *
 * Lost are 1208 blocks of 40 bytes, by forget(), whose words may remain on the stack of main(); a
 * list of 3 nodes of 24 bytes, by lose_list(), which only its head leads to; and until the first
 * line a block of 700 bytes, by hide(), whose only pointer is inverted. A variable of a thread
 * keeps a block of 801 bytes, and a word on its stack one of 802. A pointer in main() keeps one of
 * 803 bytes. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORGOTTEN = 1208, GROWTH = 10, NODES = 3, WIPED_BYTES = 32 << 10 };

struct node {
    struct node *next;
    char rest[16];
};

static uintptr_t hidden;
static __thread void *of_thread;

static void __attribute__((noinline))
forget(void)
{
    void *volatile words[FORGOTTEN];

    for (int i = 0; i < FORGOTTEN; i++)
        words[i] = malloc(40);
    (void)words[0];
}

static void __attribute__((noinline))
lose_list(void)
{
    struct node *head = NULL;

    for (int i = 0; i < NODES; i++) {
        struct node *n = malloc(sizeof *n);

        memset(n, 0, sizeof *n);
        n->next = head;
        head = n;
    }
}

static void __attribute__((noinline))
hide(void)
{
    hidden = ~(uintptr_t)malloc(700);
}

static void __attribute__((noinline))
unhide(void)
{
    if (hidden != 0)
        free((void *)~hidden);
    hidden = 0;
}

static void __attribute__((noinline))
grow(void)
{
    for (int i = 0; i < GROWTH; i++)
        malloc(100);
}

static void __attribute__((noinline))
wipe(void)
{
    volatile char bytes[WIPED_BYTES];

    for (int i = 0; i < WIPED_BYTES; i++)
        bytes[i] = 0;
    (void)bytes[0];
}

static void
wait_for_line(void)
{
    char c;

    if (write(1, "ready\n", 6) != 6)
        exit(1);
    for (;;) {
        if (read(0, &c, 1) != 1)
            exit(0);
        if (c == '\n')
            return;
    }
}

/* The frame of this function covers the words of forget(). Only the first word is set. */
static void __attribute__((noinline))
wait_above(void)
{
    volatile char never_set[FORGOTTEN * sizeof(void *) + 256];

    never_set[0] = 0;
    (void)never_set[0];
    for (;;) {
        wait_for_line();
        unhide();
        grow();
        wipe();
    }
}

static void *
run_thread(void *started)
{
    void *volatile word;

    of_thread = malloc(801);
    word = malloc(802);
    pthread_barrier_wait(started);
    pause();
    free(word);
    return NULL;
}

int
main(void)
{
    void *volatile word = malloc(803);
    pthread_barrier_t started;
    pthread_t thread;

    pthread_barrier_init(&started, NULL, 2);
    pthread_create(&thread, NULL, run_thread, &started);
    pthread_barrier_wait(&started);
    lose_list();
    hide();
    wipe();
    forget();
    wait_above();
    free(word);
    return 0;
}
