/* hook_run.c: handle the hooks of `run` before the program starts and after it ends.
 *
 * A hook that was never called is noted with the likely reason. Either the program never called the
 * function, or all calls were inside one module. Such calls bypass the loader's tables, the only
 * place to hook. The profile alone cannot distinguish the two.
 *
 * Like the recorder (recording.h), the library of stubs has a name for each platform, PATH.x86_64
 * and so on. Those of 32-bit platforms name an empty library, so 32-bit programs print no error.
 * They are hard links, because a process of another user may not follow a link in /tmp. */
#include "launch/hook_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/hooks.h"
#include "launch/launch.h"
#include "launch/recording.h"
#include "symbol/elf_names.h"

/* Write an empty library for i386 to a new file NAME, with the permissions of PATH. */
static bool
write_stub32(const char *name, const char *path)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct strbuf bytes = {0};
    struct stat st;
    bool done;

    if (fd < 0)
        return false;
    stub32_write(&bytes);
    done = write(fd, bytes.text, bytes.length) == (ssize_t)bytes.length && stat(path, &st) == 0 &&
           fchmod(fd, st.st_mode & 0777) == 0;
    strbuf_release(&bytes);
    close(fd);
    if (!done)
        unlink(name);
    return done;
}

/* Create H's name for PLATFORM: a link to the stubs if the platform loads LIBRARY, the recorder,
 * from FILE, otherwise an empty library. *OF_32 is the name of the first empty one, or NULL. */
static bool
add_name(struct hook_run *h, const char *platform, const char *file, const char *library,
         struct arena *arena, const char **of_32)
{
    const char *name = arena_printf(arena, "%s.%s", h->path, platform);
    struct stat a, b;

    if (stat(file, &a) < 0 || stat(library, &b) < 0)
        return true; // Nothing is loaded there.
    if (a.st_dev == b.st_dev && a.st_ino == b.st_ino) {
        if (link(h->path, name) < 0)
            return false;
    } else if (*of_32 != NULL ? link(*of_32, name) < 0 : !write_stub32(name, h->path)) {
        return false;
    } else if (*of_32 == NULL) {
        *of_32 = name;
    }
    arena_grow(arena, &h->names, &h->name_capacity, h->name_count, sizeof *h->names);
    h->names[h->name_count++] = name;
    return true;
}

static void
remove_names(struct hook_run *h)
{
    while (h->name_count > 0)
        unlink(h->names[--h->name_count]);
}

/* Set H's entry in LD_PRELOAD, with a name for each platform that has one for LIBRARY. */
static void
choose_entry(struct hook_run *h, const char *library, struct arena *arena)
{
    const char *entry = recording_preload_entry(arena, library), *base = strrchr(library, '/') + 1;
    const char *directory =
        arena_printf(arena, "%.*spreload", (int)(base - library), library), *of_32 = NULL;
    DIR *d = strcmp(entry, library) != 0 ? opendir(directory) : NULL;
    struct dirent *found;
    bool done = d != NULL;

    while (done && (found = readdir(d)) != NULL)
        if (found->d_name[0] != '.')
            done = add_name(h, found->d_name,
                            arena_printf(arena, "%s/%s/%s", directory, found->d_name, base),
                            library, arena, &of_32);
    if (d != NULL)
        closedir(d);
    if (!done)
        remove_names(h);
    h->entry = done ? arena_printf(arena, "%s.$PLATFORM", h->path) : h->path;
}

int
hook_run_begin(struct hook_run *h, const char *library, const char *directory, struct arena *arena,
               struct err *err)
{
    int r;

    if (h->list.count == 0)
        return 0;
    r = hook_stub_write(&h->list, library, directory, arena, &h->path, err);
    if (r == 0)
        choose_entry(h, library, arena);
    return r;
}

void
hook_run_remove(struct hook_run *h)
{
    remove_names(h);
    if (h->path != NULL)
        unlink(h->path);
    h->path = NULL;
}

#define DIRECT                                                                                     \
    "record them with heaptap attach --hook, or wrap it when you link it (heaptap/wrap.h, "

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
                            "inside it are direct; " DIRECT "-Wl,--wrap=%s)",
                            symbol, executable, symbol);
    case ELF_NAME_HIDDEN:
        return arena_printf(arena,
                            "--hook %s: it is inside %s, but no dynamic symbol, so its calls are "
                            "direct; " DIRECT "-Wl,--wrap=%s), or export it from a shared "
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
