/* hook_run.c: what `run` does about its hooks before the program starts and after it has ended. */
#include "cli/hook_run.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/hook_stub.h"
#include "cli/opts.h"

int
hook_run_begin(struct hook_run *h, const char *library, const char *directory, struct arena *arena,
               struct err *err)
{
    if (h->list.count == 0)
        return 0;
    return hook_stub_write(&h->list, library, directory, arena, &h->path, err);
}

void
hook_run_remove(struct hook_run *h)
{
    if (h->path != NULL)
        unlink(h->path);
    h->path = NULL;
}

void
hook_run_end(struct hook_run *h, const char *program, bool living, bool quiet, struct arena *arena)
{
    uint8_t *called;

    if (h->path == NULL)
        return;
    called = arena_array(arena, h->list.count, sizeof *called);
    if (!quiet && hook_stub_read(h->path, h->list.count, called))
        for (size_t i = 0; i < h->list.count; i++)
            if (!called[i] && h->list.hooks[i].preset == NULL)
                say_warning("--hook %s: never called in %s", h->list.hooks[i].symbol, program);
    if (!living)
        hook_run_remove(h);
}
