/* libs: -lpthread */
/* cflags: -fno-builtin */
/* temporary.c: allocate temporary blocks and others. A block is temporary if its thread frees it
 * before that thread's next allocation.
 *
 *     function      blocks  temporary   why
 *     at_once          100        100   malloc, free
 *     last_first       100         50   malloc a, malloc b, free b, free a: b is, a is not
 *     first_first      100         50   malloc a, malloc b, free a, free b: b is the latest
 *     resized          200        100   malloc, realloc, free: the latest is the realloc's
 *     elsewhere        100          0   freed by another thread, one at a time
 *     returned         100          0   freed by another thread, whose next block main frees; it
 *     replace          100          0   often lies where main's latest lay, but is not that
 *     in all           800        300 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

enum { TIMES = 50 };

static void *volatile handed_over;
static sem_t full, empty;

__attribute__((noinline)) static void
at_once(void)
{
    for (int i = 0; i < 2 * TIMES; i++)
        free(malloc(40));
}

__attribute__((noinline)) static void
last_first(void)
{
    for (int i = 0; i < TIMES; i++) {
        void *a = malloc(40), *b = malloc(50);

        free(b);
        free(a);
    }
}

__attribute__((noinline)) static void
first_first(void)
{
    for (int i = 0; i < TIMES; i++) {
        void *a = malloc(40), *b = malloc(50);

        free(a);
        free(b);
    }
}

__attribute__((noinline)) static void
resized(void)
{
    for (int i = 0; i < 2 * TIMES; i++) {
        void *p = malloc(40);

        p = realloc(p, 4000);
        free(p);
    }
}

static void *
free_them(void *arg)
{
    for (int i = 0; i < 2 * TIMES; i++) {
        sem_wait(&full);
        free(handed_over);
        sem_post(&empty);
    }
    return arg;
}

__attribute__((noinline)) static void
elsewhere(void)
{
    for (int i = 0; i < 2 * TIMES; i++) {
        handed_over = malloc(40);
        sem_post(&full);
        sem_wait(&empty);
    }
}

__attribute__((noinline)) static void
replace(void)
{
    free(handed_over);
    handed_over = malloc(40);
}

static void *
replace_them(void *arg)
{
    for (int i = 0; i < 2 * TIMES; i++) {
        sem_wait(&full);
        replace();
        sem_post(&empty);
    }
    return arg;
}

__attribute__((noinline)) static void
returned(void)
{
    for (int i = 0; i < 2 * TIMES; i++) {
        handed_over = malloc(40);
        sem_post(&full);
        sem_wait(&empty);
        free(handed_over);
    }
}

int
main(void)
{
    pthread_t other;

    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 0);
    at_once();
    last_first();
    first_first();
    resized();
    pthread_create(&other, NULL, free_them, NULL);
    elsewhere();
    pthread_join(other, NULL);
    pthread_create(&other, NULL, replace_them, NULL);
    returned();
    pthread_join(other, NULL);
    return 0;
}
