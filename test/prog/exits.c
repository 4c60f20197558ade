/* cflags: -fno-builtin */
/* libs: -lpthread */
/* exits.c MODE: allocate 200,000 blocks of 24 bytes in `take`, free 100,000 of them, and end as
 * MODE names:
 *
 *     return  exit  _exit  quick_exit  pthread_exit    status 7 (pthread_exit: 0)
 *     abort   segv  term  kill                         by signal 6, 11, 15, 9
 *     exec                                             becomes /bin/true
 *
 * However it ends, `take` has 200,000 allocations of 4,800,000 bytes, and 100,000 frees. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 200000, STATUS = 7 };

static void *blocks[BLOCKS];
static int *volatile nowhere;

__attribute__((noinline)) static void
take(void)
{
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(24);
}

__attribute__((noinline)) static void
give_back(void)
{
    for (int i = 0; i < BLOCKS; i += 2)
        free(blocks[i]);
}

static void
end_by_signal(const char *mode)
{
    if (strcmp(mode, "abort") == 0)
        abort();
    if (strcmp(mode, "segv") == 0)
        *nowhere = 1;
    if (strcmp(mode, "term") == 0)
        raise(SIGTERM);
    if (strcmp(mode, "kill") == 0)
        kill(getpid(), SIGKILL);
}

int
main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "return";

    take();
    give_back();
    end_by_signal(mode);
    if (strcmp(mode, "exit") == 0)
        exit(STATUS);
    if (strcmp(mode, "_exit") == 0)
        _exit(STATUS);
    if (strcmp(mode, "quick_exit") == 0)
        quick_exit(STATUS);
    if (strcmp(mode, "pthread_exit") == 0)
        pthread_exit(NULL);
    if (strcmp(mode, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    return STATUS;
}
