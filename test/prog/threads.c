/* libs: -lpthread */
/* threads.c: run 4 producers of 5000 blocks each and 4 consumers, which free all of these.
 *
 *     produce     20000 allocations, 960000 bytes, all freed by other threads: temporary 0
 *     consume     4 * 1000 pairs of 16 bytes, malloc and free in a row: temporary 4000, 64000 bytes
 *
 * pthread_create also allocates, in other functions. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { PAIRS = 4, BLOCKS = 5000, OWN_PAIRS = 1000, RING = 64 };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *ring[RING];
    int first, count;
};

static struct queue queues[PAIRS];

static void
put(struct queue *q, void *p)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == RING)
        pthread_cond_wait(&q->changed, &q->lock);
    q->ring[(q->first + q->count++) % RING] = p;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static void *
take(struct queue *q)
{
    void *p;

    pthread_mutex_lock(&q->lock);
    while (q->count == 0)
        pthread_cond_wait(&q->changed, &q->lock);
    p = q->ring[q->first];
    q->first = (q->first + 1) % RING;
    q->count--;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
    return p;
}

__attribute__((noinline)) static void *
produce(void *arg)
{
    for (int i = 0; i < BLOCKS; i++) {
        void *p = malloc(48);

        if (p == NULL)
            _exit(1);
        put(arg, p);
    }
    return NULL;
}

__attribute__((noinline)) static void *
consume(void *arg)
{
    for (int i = 0; i < BLOCKS; i++) {
        free(take(arg));
        if (i < OWN_PAIRS) {
            void *volatile p = malloc(16);

            free(p);
        }
    }
    return NULL;
}

int
main(void)
{
    pthread_t threads[2 * PAIRS];

    for (int i = 0; i < PAIRS; i++) {
        pthread_mutex_init(&queues[i].lock, NULL);
        pthread_cond_init(&queues[i].changed, NULL);
        pthread_create(&threads[2 * i], NULL, produce, &queues[i]);
        pthread_create(&threads[2 * i + 1], NULL, consume, &queues[i]);
    }
    for (int i = 0; i < 2 * PAIRS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
