/* annotated_program.c: the tests of the article of 2014, with its numbers.
 *
 *     sizes      eight blocks of 128 KiB plus and minus 1 from one function, then a core; one of
 *                1 MiB from another, then a second core: children dump them, so that this runs on
 *     threads    two threads keep 1,024 blocks of a byte each, each in a separate function; then
 *                a core
 *
 * The dumping processes run in separate directories: first, second and threads. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { BLOCKS = 8, SMALL = 1024 };

static void *volatile eight[BLOCKS];
static void *volatile large;
static void *volatile small[2][SMALL];

NOINLINE static void
allocate_eight(void)
{
    for (size_t i = 0; i < BLOCKS; i++)
        eight[i] = malloc(128 * 1024 + (i % 2 ? 1 : -1));
}

NOINLINE static void
allocate_large(void)
{
    large = malloc(1024 * 1024);
}

/* Run a child that ends with a core dump in DIRECTORY. */
static void
leave_core(const char *directory)
{
    pid_t pid;

    mkdir(directory, 0777);
    pid = fork();
    if (pid == 0) {
        if (chdir(directory) == 0)
            raise(SIGSEGV);
        _exit(1);
    }
    waitpid(pid, NULL, 0);
}

NOINLINE static void *
keep_first(void *arg)
{
    for (size_t i = 0; i < SMALL; i++)
        small[0][i] = malloc(1);
    return arg;
}

NOINLINE static void *
keep_second(void *arg)
{
    for (size_t i = 0; i < SMALL; i++)
        small[1][i] = malloc(1);
    return arg;
}

int
main(int argc, char **argv)
{
    pthread_t threads[2];

    if (argc > 1 && strcmp(argv[1], "sizes") == 0) {
        allocate_eight();
        leave_core("first");
        allocate_large();
        leave_core("second");
        return 0;
    }
    pthread_create(&threads[0], NULL, keep_first, NULL);
    pthread_create(&threads[1], NULL, keep_second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    leave_core("threads");
    return 0;
}
