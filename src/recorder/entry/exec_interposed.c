/* exec_interposed.c: notices programs that are executed without the recorder's variables, as by
 * `env -i`, so that `run --fail-on` does not pass what it has not seen.
 *
 * Each function calls the next definition with unchanged arguments. A successful exec does not
 * return, so it is counted first, and revoked if it fails. Functions with a list of arguments make
 * an array on the stack, as libc's do, and call no exported function, which the program may
 * replace. libc's own calls (system, popen) pass the program's environment and bypass these
 * functions. Without --fail-on, nothing is counted.
 *
 * A child made by vfork runs this in its parent's memory, and changes nothing there. */
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "allocator/real.h"
#include "platform/unrecorded.h"

/* Call the next definition of execNAME with the arguments in parentheses, counting E. */
#define EXEC_NEXT(name, e, parameters, arguments)                                                  \
    do {                                                                                           \
        typedef int next_fn parameters;                                                            \
        static void *cache;                                                                        \
        next_fn *f = (next_fn *)real_cached(&cache, #name);                                        \
        uint64_t *count = unrecorded_add_executed(&(struct unrecorded_exec){e});                   \
        int r = f != NULL ? f arguments : exec_missing();                                          \
                                                                                                   \
        if (count != NULL)                                                                         \
            unrecorded_revoke_executed(count);                                                     \
        return r;                                                                                  \
    } while (0)

#define EXEC(file, argv, envp) .path = file, .arguments = argv, .environment = envp
#define EXEC_FOUND(file, argv, envp) EXEC(file, argv, envp), .searches = true
#define EXEC_AT(fd, file, argv, envp) EXEC(file, argv, envp), .is_elsewhere = (fd) != AT_FDCWD

static int
exec_missing(void)
{
    errno = ENOSYS;
    return -1;
}

static int
next_execve(const char *path, char *const argv[], char *const envp[])
{
    EXEC_NEXT(execve, EXEC(path, argv, envp),
              (const char *, char *const *, char *const *), (path, argv, envp));
}

EXPORT int
execve(const char *path, char *const argv[], char *const envp[])
{
    return next_execve(path, argv, envp);
}

static int
next_execv(const char *path, char *const argv[])
{
    EXEC_NEXT(execv, EXEC(path, argv, __environ), (const char *, char *const *), (path, argv));
}

EXPORT int
execv(const char *path, char *const argv[])
{
    return next_execv(path, argv);
}

static int
next_execvp(const char *file, char *const argv[])
{
    EXEC_NEXT(execvp, EXEC_FOUND(file, argv, __environ),
              (const char *, char *const *), (file, argv));
}

EXPORT int
execvp(const char *file, char *const argv[])
{
    return next_execvp(file, argv);
}

EXPORT int
execvpe(const char *file, char *const argv[], char *const envp[])
{
    EXEC_NEXT(execvpe, EXEC_FOUND(file, argv, envp),
              (const char *, char *const *, char *const *), (file, argv, envp));
}

EXPORT int
fexecve(int fd, char *const argv[], char *const envp[])
{
    EXEC_NEXT(fexecve, EXEC(NULL, argv, envp), (int, char *const *, char *const *),
              (fd, argv, envp));
}

EXPORT int
execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
    EXEC_NEXT(execveat, EXEC_AT(fd, path, argv, envp),
              (int, const char *, char *const *, char *const *, int),
              (fd, path, argv, envp, flags));
}

/* Set ARGV to FIRST and the arguments after it up to NULL, in an array on the caller's stack, and
 * leave the variable ARGUMENTS after that NULL. */
#define EXEC_LIST(argv, first, arguments)                                                          \
    va_list arguments;                                                                             \
    size_t count = 1;                                                                              \
    char **argv;                                                                                   \
                                                                                                   \
    va_start(arguments, first);                                                                    \
    while (va_arg(arguments, const char *) != NULL)                                                \
        count++;                                                                                   \
    va_end(arguments);                                                                             \
    argv = alloca((count + 1) * sizeof *argv);                                                     \
    argv[0] = (char *)(uintptr_t)first;                                                            \
    va_start(arguments, first);                                                                    \
    for (size_t i = 1; i <= count; i++)                                                            \
        argv[i] = va_arg(arguments, char *)

EXPORT int
execl(const char *path, const char *first, ...)
{
    EXEC_LIST(argv, first, arguments);

    va_end(arguments);
    return next_execv(path, argv);
}

EXPORT int
execlp(const char *file, const char *first, ...)
{
    EXEC_LIST(argv, first, arguments);

    va_end(arguments);
    return next_execvp(file, argv);
}

EXPORT int
execle(const char *path, const char *first, ...)
{
    char *const *envp;
    EXEC_LIST(argv, first, arguments);

    envp = va_arg(arguments, char *const *);
    va_end(arguments);
    return next_execve(path, argv, envp);
}

#define SPAWN(name, searches)                                                                      \
    EXPORT int name(pid_t *ret_pid, const char *path, const posix_spawn_file_actions_t *actions,   \
                    const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])   \
    {                                                                                              \
        typedef int name##_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,           \
                              const posix_spawnattr_t *, char *const *, char *const *);            \
        static void *cache;                                                                        \
        name##_fn *f = (name##_fn *)real_cached(&cache, #name);                                    \
        int r = f != NULL ? f(ret_pid, path, actions, attributes, argv, envp) : ENOSYS;            \
                                                                                                   \
        if (r == 0)                                                                                \
            unrecorded_add_executed(                                                               \
                &(struct unrecorded_exec){path, argv, envp, true, searches, false});               \
        return r;                                                                                  \
    }

SPAWN(posix_spawn, false)
SPAWN(posix_spawnp, true)
