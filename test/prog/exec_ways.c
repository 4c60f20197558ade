/* exec_ways.c PROGRAM: start PROGRAM in every possible way, one child after the other.
 *
 * Prints the name of each way. The name of PROGRAM without a directory must be in PATH. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const ways[] = {"execve",    "execvp",       "fexecve", "execveat",
                                   "a relative path", "a system call", "vfork",   "posix_spawn",
                                   "posix_spawnp", "system"};
enum { WAYS = sizeof ways / sizeof ways[0], VFORK = 6 };

static void
become(int way, char *path)
{
    char *slash = strrchr(path, '/'), *arguments[] = {path, NULL};

    switch (way) {
    case 1:
        execvp(slash + 1, arguments);
        break;
    case 2:
        fexecve(open(path, O_RDONLY), arguments, environ);
        break;
    case 3:
        syscall(SYS_execveat, AT_FDCWD, path, arguments, environ, 0);
        break;
    case 4:
        *slash = '\0';
        if (chdir(path) == 0) {
            slash[-1] = '.';
            *slash = '/';
            execve(slash - 1, arguments, environ);
        }
        break;
    case 5:
        syscall(SYS_execve, path, arguments, environ);
        break;
    default:
        execve(path, arguments, environ);
    }
    _exit(9);
}

static int
start(int way, char *path)
{
    char *arguments[] = {path, NULL};
    int status = -1, failed = 0;
    pid_t pid = -1;

    if (way > VFORK + 2)
        return system(path);
    if (way == VFORK + 1)
        failed = posix_spawn(&pid, path, NULL, NULL, arguments, environ);
    else if (way == VFORK + 2)
        failed = posix_spawnp(&pid, strrchr(path, '/') + 1, NULL, NULL, arguments, environ);
    else if ((pid = way == VFORK ? vfork() : fork()) == 0)
        become(way, path);
    return failed == 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

int
main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    for (int way = 0; way < WAYS; way++) {
        printf("%s\n", ways[way]);
        fflush(stdout);
        if (start(way, argv[1]) != 0)
            return 1;
    }
    return 0;
}
