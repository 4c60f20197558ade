/* uncounted_code.c: find code that clang compiles without counting.
 *
 * clang inserts its counters into intermediate code. Some accesses appear only after that step: the
 * code generator copies a structure that is passed by value, and an assembler statement stays a
 * text. An atomic operation that reads and writes counts as a store. A verdict of "never" would be
 * wrong for blocks that only such code uses.
 *
 *     source ─► clang -S -emit-llvm ─► call @f(… byval(%struct.s) … %3)    structures
 *                                      %4 = atomicrmw add …                atomics
 *                                      call asm "…", "…~{memory}"(…)       assembler
 *
 * So each source is compiled to intermediate code first, without optimisation, and its lines are
 * searched. The object then gets a mark for each kind found (recorder/access/granule_mark.h).
 *
 * The search may find too much, such as code that is never called, but must not miss anything. */
#include "launch/compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

enum { EVERYTHING = UNCOUNTED_STRUCTURES | UNCOUNTED_ATOMICS | UNCOUNTED_ASSEMBLER };

extern char **environ;

/* --- One line --------------------------------------------------------------------------------- */

/* Return true if the assembler statement that begins at TEXT may access memory. Without a pointer
 * it can do so only if it names "memory". A statement without instructions does nothing. */
static bool
asm_accesses(const char *text)
{
    const char *quote = strchr(text, '"');

    if (quote == NULL || quote[1] == '"')
        return false;
    return strstr(quote, "~{memory}") != NULL || strstr(quote, "* ") != NULL ||
           strstr(quote, "ptr ") != NULL || strstr(quote, "=*") != NULL;
}

/* Return true if any assembler statement in LINE may access memory. Quoted names may look like
 * one. */
static bool
assembler_accesses(const char *line)
{
    for (const char *s = strstr(line, " asm "); s != NULL; s = strstr(s + 1, " asm "))
        if (asm_accesses(s))
            return true;
    return false;
}

static bool
intrinsic_accesses(const char *line)
{
    static const char *const always[] = {"@llvm.masked.gather", "@llvm.masked.scatter",
                                         "@llvm.masked.expandload", "@llvm.masked.compressstore",
                                         "@llvm.eh.sjlj"};
    const char *x86 = strstr(line, "@llvm.x86.");

    for (size_t i = 0; i < countof(always); i++)
        if (strstr(line, always[i]) != NULL)
            return true;
    return x86 != NULL && (strchr(x86, '*') != NULL || strstr(x86, "ptr ") != NULL);
}

unsigned
uncounted_code_of_line(const char *line)
{
    bool calls = strstr(line, "call ") != NULL || strstr(line, "invoke ") != NULL ||
                 strstr(line, "callbr ") != NULL;
    unsigned found = 0;

    if (strncmp(line, "module asm", 10) == 0)
        return UNCOUNTED_ASSEMBLER;
    if (strstr(line, " atomicrmw ") != NULL || strstr(line, " cmpxchg ") != NULL)
        found |= UNCOUNTED_ATOMICS;
    if (!calls)
        return found;
    if (strstr(line, "byval(") != NULL)
        found |= UNCOUNTED_STRUCTURES;
    if (assembler_accesses(line) || intrinsic_accesses(line))
        found |= UNCOUNTED_ASSEMBLER;
    return found;
}

/* --- Sources ---------------------------------------------------------------------------------- */

/* Return true if TEXT begins an option that writes files beside the output. */
static bool
writes_files(const char *text)
{
    return strncmp(text, "-M", 2) == 0 || strncmp(text, "-Wp,-M", 6) == 0 ||
           strncmp(text, "-save-temps", 11) == 0 || strncmp(text, "--save-temps", 12) == 0 ||
           strncmp(text, "-ftime-trace", 12) == 0 || strncmp(text, "-gsplit-dwarf", 13) == 0 ||
           strcmp(text, "-dependency-file") == 0 || strcmp(text, "-serialize-diagnostics") == 0 ||
           strcmp(text, "--serialize-diagnostics") == 0;
}

static bool
is_assembler(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot != NULL && (strcmp(dot, ".s") == 0 || strcmp(dot, ".S") == 0);
}

/* Return the command line that prints the intermediate code of the input at index SOURCE. */
static char **
uncounted_code_line_of(const char *compiler, int count, char **arguments, int source,
                       struct arena *arena)
{
    static const char *const behind[] = {"-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes",
                                         "-g0", "-w", "-Qunused-arguments", "-o", "-"};
    char **line = arena_array(arena, (size_t)count + countof(behind) + 2, sizeof *line);
    size_t n = 0;

    line[n++] = arena_strdup(arena, compiler);
    for (int i = 0; i < count; i++) {
        int values = argument_takes_value(arguments[i]) && i + 1 < count;

        if (i == source || (arguments[i][0] == '-' && !writes_files(arguments[i]))) {
            line[n++] = arguments[i];
            if (values > 0)
                line[n++] = arguments[i + 1];
        }
        i += values;
    }
    for (size_t i = 0; i < countof(behind); i++)
        line[n++] = arena_strdup(arena, behind[i]);
    return line;
}

/* Start LINE, whose output goes to *RET_OUT. Return false if that fails. */
static bool
uncounted_code_start(char **line, pid_t *ret_pid, FILE **ret_out)
{
    posix_spawn_file_actions_t actions;
    int fds[2];
    bool started;

    if (pipe2(fds, O_CLOEXEC) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    started = posix_spawnp(ret_pid, line[0], &actions, NULL, line, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    *ret_out = started ? fdopen(fds[0], "r") : NULL;
    if (*ret_out == NULL)
        close(fds[0]);
    return started;
}

static unsigned
uncounted_code_find_in(char **line)
{
    unsigned found = 0;
    char *text = NULL;
    size_t room = 0;
    FILE *out;
    pid_t pid;
    int status;

    if (!uncounted_code_start(line, &pid, &out))
        return EVERYTHING;
    while (out != NULL && getline(&text, &room, out) > 0)
        found |= uncounted_code_of_line(text);
    free(text);
    if (out == NULL || fclose(out) != 0)
        found = EVERYTHING;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        found = EVERYTHING;
    return found;
}

unsigned
uncounted_code_find(const char *compiler, int count, char **arguments, struct arena *arena)
{
    unsigned found = 0;

    for (int i = 0; i < count; i++) {
        const char *a = arguments[i];

        if (argument_takes_value(a))
            i++;
        else if (strcmp(a, "-") == 0)
            return EVERYTHING; // Reading standard input here would leave nothing for the compiler.
        else if (a[0] != '-' && !argument_is_for_linker(a) && !is_assembler(a))
            found |= uncounted_code_find_in(
                uncounted_code_line_of(compiler, count, arguments, i, arena));
    }
    return found;
}
