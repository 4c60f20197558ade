/* hook_check.c: check that the symbols of `--hook` are functions.
 *
 * The library of stubs comes first in link order. So if a hooked name is a variable, the dynamic
 * linker binds its references to code, and copies code into the program's copy of the variable.
 * Therefore a symbol that any object of the program defines as something other than a function is
 * refused.
 *
 * The dynamic linker itself lists these objects (`ld.so --list`): no other program has its search
 * path, its cache and the user's LD_PRELOAD. It runs none of their code. If it fails, as it does
 * for a script, nothing is refused. The recorder then binds variables past the stubs
 * (entry/hook_names_interposed.c), as it does in programs that the program starts. */
#include "launch/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/elf_names.h"

/* Start LINKER --list PROGRAM with its output in *RET_FD. Return its pid, or -1. */
static pid_t
start_listing(char *linker, char *program, int *ret_fd)
{
    char *arguments[] = {linker, (char[]){"--list"}, program, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, linker, &actions, NULL, arguments, environ) != 0) {
        close(fds[0]);
        pid = -1;
    }
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    *ret_fd = fds[0];
    return pid;
}

/* Return the path in LINE, which is "NAME => PATH (ADDRESS)" or "PATH (ADDRESS)"; NULL if it has
 * none. Modifies LINE. */
static const char *
path_in(char *line)
{
    char *arrow = strstr(line, " => "), *path = arrow != NULL ? arrow + strlen(" => ") : line;
    char *end = NULL;

    path += strspn(path, "\t");
    for (char *p = strstr(path, " (0x"); p != NULL; p = strstr(p + 1, " (0x"))
        end = p;
    if (end == NULL)
        return NULL;
    *end = '\0';
    return strchr(path, '/') != NULL ? path : NULL;
}

/* Remove each hook that a preset added if KINDS shows that it is a variable in FILE. Refuse the
 * first such hook that the user named. Returns 0, or HEAPTAP_USAGE with ERR set. */
static int
check_kinds(struct hook_list *list, const enum elf_name *kinds, const char *file, struct err *err)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct hook hook = list->hooks[i];

        if (kinds[i] == ELF_NAME_VARIABLE && hook.preset == NULL)
            return err_set(err, HEAPTAP_USAGE,
                           "option '--hook': %s is a variable in %s; hook functions only, since "
                           "hooking it would break the program",
                           hook.symbol, file);
        if (kinds[i] != ELF_NAME_VARIABLE)
            list->hooks[kept++] = hook;
    }
    list->count = kept;
    return 0;
}

static int
check_file(struct hook_list *list, const char *file, struct arena *arena, struct err *err)
{
    const char **names = arena_array(arena, list->count, sizeof *names);
    enum elf_name *kinds = arena_array(arena, list->count, sizeof *kinds);

    for (size_t i = 0; i < list->count; i++)
        names[i] = list->hooks[i].symbol;
    if (!elf_names_find(file, names, list->count, kinds))
        return 0;
    return check_kinds(list, kinds, file, err);
}

int
hook_check(struct hook_list *list, const char *program, struct arena *arena, struct err *err)
{
    char linker[PATH_MAX], path[PATH_MAX], *line = NULL;
    size_t capacity = 0;
    int r, fd, status;
    FILE *lines;
    pid_t pid;

    if (list->count == 0)
        return 0;
    r = check_file(list, program, arena, err);
    // A path that does not start with a slash might look like an option.
    if (r < 0 || realpath(program, path) == NULL ||
        !elf_names_dynamic_linker(path, linker, sizeof linker) ||
        (pid = start_listing(linker, path, &fd)) < 0)
        return r;
    lines = fdopen(fd, "r");
    while (lines != NULL && getline(&line, &capacity, lines) >= 0) {
        const char *file = path_in(line);

        if (r == 0 && file != NULL)
            r = check_file(list, file, arena, err);
    }
    free(line);
    if (lines != NULL)
        fclose(lines);
    else
        close(fd);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return r;
}
