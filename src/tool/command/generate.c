/* generate.c: hidden command that writes files for the build.
 *
 * Man pages and shell completion come from the tables of the commands. The library for 32-bit
 * programs is generated, so that the build needs no 32-bit compiler. Help and completion omit this
 * command, because no user needs it. */
#include "command/generate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "launch/launch.h"
#include "option/opts.h"
#include "util/arena.h"

static int write_man(const struct command_group *groups, const char *directory);

int
generate(const struct command_group *groups, int count, char **arguments)
{
    struct strbuf out = {0};
    bool failed;

    if (count == 2 && strcmp(arguments[0], "man") == 0)
        return write_man(groups, arguments[1]);
    if (count == 2 && strcmp(arguments[0], "completion") == 0 &&
        strcmp(arguments[1], "bash") == 0) {
        completion_bash(groups, &out);
    } else if (count == 2 && strcmp(arguments[0], "completion") == 0 &&
               strcmp(arguments[1], "zsh") == 0) {
        completion_zsh(groups, &out);
    } else if (count == 1 && strcmp(arguments[0], "stub32") == 0) {
        stub32_write(&out);
    } else {
        message_error(
            "usage: heaptap generate man DIRECTORY | heaptap generate completion bash|zsh | "
            "heaptap generate stub32");
        return EXIT_USAGE;
    }
    failed = fwrite(out.text, 1, out.length, stdout) != out.length || fflush(stdout) != 0;
    if (failed)
        message_error("the generated file cannot be written: %s", strerror(errno));
    strbuf_release(&out);
    return failed ? EXIT_BAD_INPUT : 0;
}

static int
generate_write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    bool failed = f == NULL || fputs(text, f) == EOF;

    if (f != NULL)
        failed |= fclose(f) != 0;
    if (failed)
        message_error("%s: the man page cannot be written: %s", path, strerror(errno));
    return failed ? EXIT_BAD_INPUT : 0;
}

static int
write_man(const struct command_group *groups, const char *directory)
{
    struct arena arena = {0};
    struct strbuf page = {0};
    int rc;

    man_page_overview(groups, &page);
    rc = generate_write_file(arena_printf(&arena, "%s/heaptap.1", directory), strbuf_text(&page));
    for (const struct command_group *g = groups; g->title != NULL; g++)
        for (const struct command *const *c = g->commands; *c != NULL && rc == 0; c++) {
            strbuf_clear(&page);
            man_page_command(groups, *c, &page);
            rc = generate_write_file(arena_printf(&arena, "%s/heaptap-%s.1", directory, (*c)->name),
                                     strbuf_text(&page));
        }
    strbuf_release(&page);
    arena_release(&arena);
    return rc;
}
