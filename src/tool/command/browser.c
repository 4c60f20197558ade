/* browser.c: start a browser, as other commands do: with the commands in $BROWSER, or xdg-open.
 *
 * $BROWSER is a list of commands, separated by colons. The first one that exists is started. %s in
 * a command is replaced by the file; without %s the file is the last argument. No shell is
 * involved, so no character in the name of the file has a special meaning.
 *
 * The browser gets a new session and no stream of the command. So Ctrl-C in the terminal
 * does not end it, and a reader of the command's output does not wait for it. */
#include "command/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option/opts.h"
#include "util/arena.h"
#include "view/messages.h"
#include "view/style.h"

#define OPENER "xdg-open"

/* Start ARGUMENTS in the background. Return false if the program does not exist. */
static bool
browser_start(char *const *arguments)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t pid;
    int rc;

    posix_spawn_file_actions_init(&actions);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    rc = posix_spawnp(&pid, *arguments, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return rc == 0;
}

/* Return WORD with FILE in place of %s, which is at PLACE. */
static char *
with_file(struct arena *arena, const char *word, const char *place, const char *file)
{
    return arena_printf(arena, "%.*s%s%s", (int)(place - word), word, file, place + 2);
}

/* Start COMMAND with FILE. Return false if the command is empty or its program does not exist.
 * Modifies COMMAND. */
static bool
start_command(struct arena *arena, char *command, char *file)
{
    char **arguments = arena_array(arena, strlen(command) + 3, sizeof *arguments), *rest = NULL;
    bool has_file = false;
    size_t count = 0;

    for (char *word = strtok_r(command, " \t", &rest); word != NULL;
         word = strtok_r(NULL, " \t", &rest)) {
        const char *place = strstr(word, "%s");

        arguments[count++] = place ? with_file(arena, word, place, file) : word;
        has_file |= place != NULL;
    }
    if (count == 0)
        return false;
    if (!has_file)
        arguments[count++] = file;
    return browser_start(arguments);
}

int
browser_open(const char *path)
{
    const char *listed = getenv("BROWSER");
    struct arena arena = {0};
    char *file = realpath(path, NULL), *rest = NULL;
    bool started = false;

    // xdg-open comes last: the user has chosen the others.
    for (char *command = strtok_r(arena_printf(&arena, "%s:" OPENER, listed ? listed : ""), ":",
                                  &rest);
         command != NULL && file != NULL && !started; command = strtok_r(NULL, ":", &rest))
        started = start_command(&arena, command, file);
    if (!started)
        message_error("no browser can open %s: install " OPENER
                      ", or set BROWSER to the command of a browser",
                      style_clean(&arena, path));
    free(file);
    arena_release(&arena);
    return started ? 0 : EXIT_BAD_INPUT;
}
