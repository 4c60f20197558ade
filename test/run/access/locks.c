/* locks.c: use blocks in threads, by functions of libpthread with known accesses.
 *
 *     5008 bytes  nobody uses
 *     6000        written 7 times by each of two threads, never read
 *     4000 + ...  one object of pthread.h or semaphore.h each, used by its functions only */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static void *volatile unused;
static volatile char *volatile filled;
static pthread_mutex_t *mutex;
static pthread_cond_t *cond;
static pthread_rwlock_t *rwlock;
static sem_t *semaphore;
static pthread_once_t *once;
static pthread_barrier_t *barrier;

static void
nothing(void)
{
}


static void *
work(void *arg)
{
    pthread_once(once, nothing);
    pthread_barrier_wait(barrier);
    for (int i = 0; i < 7; i++) {
        pthread_mutex_lock(mutex);
        filled[0] = 1;
        pthread_cond_signal(cond);
        pthread_mutex_unlock(mutex);
        pthread_rwlock_rdlock(rwlock);
        pthread_rwlock_unlock(rwlock);
        sem_post(semaphore);
    }
    return arg;
}

int
main(void)
{
    pthread_t other;

    unused = malloc(5008);
    filled = malloc(6000);
    mutex = malloc(4000);
    cond = malloc(4016);
    rwlock = malloc(4032);
    semaphore = malloc(4048);
    once = calloc(1, 4064);
    barrier = malloc(4080);
    pthread_mutex_init(mutex, NULL);
    pthread_cond_init(cond, NULL);
    pthread_rwlock_init(rwlock, NULL);
    sem_init(semaphore, 0, 0);
    pthread_barrier_init(barrier, NULL, 2);
    if (pthread_create(&other, NULL, work, NULL) != 0)
        return 2;
    work(NULL);
    pthread_join(other, NULL);
    free(unused);
    free((void *)filled);
    return 0;
}
