/* libs: -lpthread */
/* first_ends.c FILE: the first thread ends at once; another allocates and frees in an endless loop,
 * and creates FILE when it has begun. For the kernel, the process is then a zombie with live
 * threads. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK_BYTES = 100, BEGUN = 1000 };

static const char *file;

__attribute__((noinline, noclone)) static void *
second_alloc(void)
{
    void *p = malloc(BLOCK_BYTES);

    // Prevents a tail call, since the test searches for this frame.
    __asm__ volatile("" : : "r"(p) : "memory");
    return p;
}

static void *
work(void *arg)
{
    (void)arg;
    for (long i = 0;; i++) {
        free(second_alloc());
        if (i == BEGUN)
            close(open(file, O_WRONLY | O_CREAT, 0600));
        if (i > BEGUN)
            usleep(10);
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t thread;

    if (argc != 2)
        return 2;
    file = argv[1];
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    pthread_exit(NULL);
}
