/* lasting.c: keep many live blocks, and free some while they are being merged. Runs until it is
 * killed, or for a minute.
 *
 *     lasting BLOCKS THREADS
 *
 * First, BLOCKS blocks of 48 bytes get 3 accesses each. Then each thread frees some blocks in its
 * share, one after the other, each after one more access, and allocates and frees blocks of 80
 * bytes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char **blocks;
static int block_count, thread_count;
static void *volatile kept;

static void *
end_some(void *number)
{
    int first = (int)(long)number;

    for (int turn = 0; turn < 60000; turn++) {
        void *volatile other;
        int i = first + turn * thread_count;

        if (turn % 4 == 0 && i < block_count) {
            ((volatile char *)blocks[i])[0] = 1;
            free(blocks[i]);
        }
        for (int j = 0; j < 100; j++) {
            other = malloc(80);
            free(other);
        }
        usleep(1000);
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t other;

    if (argc != 3)
        return 2;
    block_count = atoi(argv[1]);
    thread_count = atoi(argv[2]);
    blocks = malloc((size_t)block_count * sizeof *blocks);
    for (int i = 0; i < block_count; i++) {
        kept = malloc(48);
        blocks[i] = kept;
        for (int j = 0; j < 3; j++)
            ((volatile char *)blocks[i])[j * 16] = 1;
    }
    for (int i = 1; i < thread_count; i++)
        pthread_create(&other, NULL, end_some, (void *)(long)i);
    end_some(NULL);
    return 0;
}
