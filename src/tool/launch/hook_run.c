/* hook_run.c: handle the hooks of `run` before the program starts and after it ends.
 *
 * A hook that was never called is noted with the likely reason. Either the program never called the
 * function, or all calls were inside one module. Such calls bypass the loader's tables, the only
 * place to hook. The profile alone cannot distinguish the two. */
#include "launch/hook_run.h"

#include <string.h>
#include <unistd.h>

#include "launch/hooks.h"
#include "symbol/elf_names.h"

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

#define DIRECT                                                                                     \
    "only patching its code would show them; wrap it when you link it (heaptap/wrap.h, "

/* Return why the hook of SYMBOL was never called in EXECUTABLE, from ARENA. */
static const char *
why_never_called(const char *executable, const char *symbol, struct arena *arena)
{
    enum elf_name kind = ELF_NAME_NONE;

    elf_names_find(executable, &symbol, 1, &kind);
    switch (kind) {
    case ELF_NAME_EXPORTED:
        return arena_printf(arena,
                            "--hook %s: never called from outside %s, which defines it; calls "
                            "inside it are direct, and " DIRECT "-Wl,--wrap=%s)",
                            symbol, executable, symbol);
    case ELF_NAME_HIDDEN:
        return arena_printf(arena,
                            "--hook %s: it is inside %s, but no dynamic symbol, so its calls are "
                            "direct, and " DIRECT "-Wl,--wrap=%s), or export it from a shared "
                            "library",
                            symbol, executable, symbol);
    case ELF_NAME_IMPORTED:
        return arena_printf(arena,
                            "--hook %s: %s uses it, but never called it, or no library has it",
                            symbol, executable);
    case ELF_NAME_VARIABLE:
    case ELF_NAME_NONE:
        break;
    }
    return arena_printf(arena,
                        "--hook %s: never called by its dynamic name. Is it spelled as in `nm -D`, "
                        "or static or inlined where it is used?",
                        symbol);
}

static void
note_hook(struct run_notes *notes, const char *text)
{
    run_notes_add(notes, &(struct run_note){
                             .executable = "",
                             .note = {.kind = NOTE_HOOK,
                                      .text = text,
                                      .advice = "",
                                      .process = ""},
                         });
}

/* Return true if no function of PRESET was called and INDEX is the preset's first one. */
static bool
is_idle_preset(const struct hook_list *list, const char *preset, size_t index,
               const uint8_t *called)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *other = list->hooks[i].preset;

        if (other != NULL && strcmp(other, preset) == 0 && (called[i] || i < index))
            return false;
    }
    return true;
}

void
hook_run_end(struct hook_run *h, const char *program, bool running, struct run_notes *ret)
{
    const struct hook *hooks = h->list.hooks;
    struct arena *arena = ret != NULL ? &ret->arena : NULL;
    uint8_t *called;

    if (h->path == NULL)
        return;
    called = arena != NULL ? arena_array(arena, h->list.count, sizeof *called) : NULL;
    if (called != NULL && hook_stub_read(h->path, h->list.count, called)) {
        for (size_t i = 0; i < h->list.count; i++) {
            const char *preset = hooks[i].preset;

            if (preset == NULL && !called[i])
                note_hook(ret, why_never_called(program, hooks[i].symbol, arena));
            else if (preset != NULL && is_idle_preset(&h->list, preset, i, called))
                note_hook(ret, arena_printf(arena,
                                            "--hook %s: its functions were never called by their "
                                            "dynamic names",
                                            preset));
        }
    }
    if (!running)
        hook_run_remove(h);
}
