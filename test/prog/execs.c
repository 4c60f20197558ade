/* execs.c: executes PROGRAM with three arguments by a function of libc.
 *
 *     execs FUNCTION kept|emptied PROGRAM      in a forked child
 *     execs here FUNCTION kept|emptied PROGRAM without a fork
 *
 * The program gets the environment, or an empty one. First it tries a program that does not exist,
 * with an empty environment. It ends with the program's status. */
/* cflags: -O0 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *none[] = {NULL};

static int
spawn(const char *name, const char *path, char **argv, char **envp)
{
    pid_t pid;
    int status, r = strcmp(name, "posix_spawnp") == 0
                        ? posix_spawnp(&pid, path, NULL, NULL, argv, envp)
                        : posix_spawn(&pid, path, NULL, NULL, argv, envp);

    if (r != 0) {
        errno = r;
        return -1;
    }
    waitpid(pid, &status, 0);
    _exit(WEXITSTATUS(status));
}

static int
execute(const char *name, const char *path, char **envp)
{
    char *argv[] = {(char *)path, "a", "b c", "", NULL};
    char **given = environ;
    int r = -1;

    if (strncmp(name, "posix", 5) == 0)
        return spawn(name, path, argv, envp);
    environ = envp; // For the functions without an environment.
    if (strcmp(name, "execve") == 0)
        r = execve(path, argv, envp);
    else if (strcmp(name, "execv") == 0)
        r = execv(path, argv);
    else if (strcmp(name, "execvp") == 0)
        r = execvp(path, argv);
    else if (strcmp(name, "execvpe") == 0)
        r = execvpe(path, argv, envp);
    else if (strcmp(name, "fexecve") == 0)
        r = fexecve(open(path, O_RDONLY | O_CLOEXEC), argv, envp);
    else if (strcmp(name, "execveat") == 0)
        r = execveat(AT_FDCWD, path, argv, envp, 0);
    else if (strcmp(name, "execl") == 0)
        r = execl(path, path, "a", "b c", "", (char *)NULL);
    else if (strcmp(name, "execlp") == 0)
        r = execlp(path, path, "a", "b c", "", (char *)NULL);
    else if (strcmp(name, "execle") == 0)
        r = execle(path, path, "a", "b c", "", (char *)NULL, envp);
    else
        errno = EINVAL;
    environ = given;
    return r;
}

static void
become(char **arguments)
{
    char **envp = strcmp(arguments[1], "emptied") == 0 ? none : environ;

    free(malloc(1));
    if (execute(arguments[0], "/does/not/exist", none) != -1)
        _exit(98);
    if (errno != (strcmp(arguments[0], "fexecve") == 0 ? EINVAL : ENOENT))
        _exit(97);
    execute(arguments[0], arguments[2], envp);
    _exit(96);
}

int
main(int count, char **arguments)
{
    int status;
    pid_t pid;

    if (count == 5)
        become(arguments + 2);
    free(malloc(1));
    pid = fork();
    if (pid == 0)
        become(arguments + 1);
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}
