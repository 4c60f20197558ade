/* cleared.c: clear the environment, with "early" before the first block, with "late" after it. Then
 * `work` allocates 100 blocks of 20 bytes, and `child` 50 more in a forked child. Without an
 * argument, the program keeps its environment and forks no child. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

static void *volatile sink;

OWN static void
work(void)
{
    for (int i = 0; i < 100; i++)
        sink = malloc(20);
}

OWN static void
child(void)
{
    for (int i = 0; i < 50; i++)
        sink = malloc(20);
}

int
main(int argc, char **argv)
{
    const char *when = argc > 1 ? argv[1] : "";
    int status;

    if (strcmp(when, "late") == 0)
        free(malloc(1));
    if (*when != '\0')
        clearenv();
    work();
    if (*when != '\0' && fork() == 0) {
        child();
        _exit(0);
    }
    return wait(&status) > 0 && status != 0;
}
