/* symbolise.c: reading symbols, which is what a user waits for.
 *
 * It may take long and may ask a server, so a terminal shows how far it is. What was missing is
 * said at the end, with a hint at what would help.
 */
#include "command/symbolise.h"

#include <stdio.h>
#include <unistd.h>

#include "analyse/frame_name.h"
#include "option/opts.h"
#include "symbol/symbol.h"
#include "view/style.h"

static void
show_progress(void *arg, size_t done, size_t total)
{
    bool *shown = arg;

    fprintf(stderr, "\rheaptap: reading symbols, %zu of %zu\x1b[K", done, total);
    *shown = true;
}

static void
show_server(void *arg, enum symbol_server what, const char *path)
{
    bool *shown = arg;
    struct arena a = {0};

    if (isatty(STDERR_FILENO) && what == SERVER_ASKED) {
        fprintf(stderr, "\rheaptap: asking the server in DEBUGINFOD_URLS for %s\x1b[K",
                style_clean(&a, path_basename(path)));
        *shown = true;
    } else if (*shown) {
        fputs("\r\x1b[K", stderr);
    }
    if (what == SERVER_SILENT)
        say_warning("the server in DEBUGINFOD_URLS does not answer and is not asked any more; "
                    "DEBUGINFOD_TIMEOUT is how many seconds it gets, DEBUGINFOD_URLS= heaptap … "
                    "goes without");
    arena_release(&a);
}

int
symbolise_quietly(struct profile *p)
{
    bool shown = false;
    struct symbol_options options = {.server = show_server, .progress_arg = &shown};
    struct err err = {""};
    int rc;

    if (isatty(STDERR_FILENO))
        options.progress = show_progress;
    rc = symbol_resolve(p, &options, &err);
    if (shown)
        fputs("\r\x1b[K", stderr);
    if (rc == 0)
        return 0;
    say_error("%s", err.text);
    return exit_code(rc);
}

int
symbolise(struct profile *p)
{
    int rc = symbolise_quietly(p);

    if (rc != 0)
        return rc;
    for (size_t i = 0; i < p->note_count; i++)
        say_warning("%s", p->notes[i]);
    return 0;
}
