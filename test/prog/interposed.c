/* cflags: -fno-builtin -fno-tree-loop-distribute-patterns */
/* libs: -lpthread */
/* interposed.c: a program that defines functions under names of libc.
 *
 *   interposed [fail]
 *
 * Each takes a lock and allocates while it holds it, like a function that keeps statistics or loads
 * a library at its first call. Such a function works as long as malloc does not call it. Two
 * threads call each of them 1,000 times, 32 bytes at a time. Calls by any other code are counted,
 * and with "fail" they fail. A forked child does the same. Ends with 9 and prints these counts,
 * which depend on libc alone. */
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
