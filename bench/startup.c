/* startup.c: measure the time of a command that does almost nothing.
 *
 *     startup TIMES COMMAND [ARGUMENT...]
 *
 * Starts COMMAND TIMES times, one after another, and prints a line "wall_ns cpu_ns" for each. The
 * clock starts before posix_spawn and stops after wait, so the time includes all work of the
 * recorder at the start and at the end. posix_spawn works like vfork, so this program itself adds
 * little. */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static int64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t
cpu_of(const struct rusage *u)
{
    return (int64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000 +
           (int64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
}

static int
once(char **command)
{
    int64_t began = now_ns();
    struct rusage usage;
    int status;
    pid_t pid;

    if (posix_spawnp(&pid, command[0], NULL, NULL, command, environ) ||
        wait4(pid, &status, 0, &usage) < 0) {
        fprintf(stderr, "startup: cannot run %s\n", command[0]);
        return 1;
    }
    printf("%ld %ld\n", now_ns() - began, cpu_of(&usage));
    return status != 0;
}

int
main(int argc, char **argv)
{
    int failures = 0;

    if (argc < 3) {
        fprintf(stderr, "usage: startup TIMES COMMAND...\n");
        return 2;
    }
    for (int i = atoi(argv[1]); i > 0; i--)
        failures += once(argv + 2);
    return failures > 0;
}
