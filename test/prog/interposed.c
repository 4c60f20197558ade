/* cflags: -fno-builtin -fno-tree-loop-distribute-patterns */
/* libs: -lpthread */
/* interposed.c: define functions under names of libc.
 *
 *   interposed [fail]
 *
 * Each function allocates 32 bytes while it holds a lock, like a function that keeps statistics or
 * loads a library at its first call. It works as long as malloc does not call it. Two threads call
 * each function 1,000 times, and a forked child does the same. Calls by other code are counted and,
 * with "fail", fail. Prints these counts, which depend on libc alone, and exits with 9. */
#include "interposed.h"

#include <sys/wait.h>

enum { TIMES = 1000 };

static void *
work(void *unused)
{
    (void)unused;
    for (int i = 0; i < TIMES; i++)
        interposed_call_all();
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t thread;
    int status = 0;
    pid_t pid;

    interposed_fails = argc > 1 && argv[1][0] == 'f';
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    work(NULL);
    pthread_join(thread, NULL);
    pid = fork();
    if (pid == 0) {
        work(NULL);
        _exit(9);
    }
    if (waitpid(pid, &status, 0) != pid || status != 9 << 8)
        return 1;
    interposed_print(stdout);
    return 9;
}
