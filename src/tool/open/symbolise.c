/* symbolise.c: symbolise profiles, with progress.
 *
 * Symbolising may take long and may query a server, so progress is shown on a terminal. Missing
 * symbols are reported at the end, with the remedy.
 *
 * Compilers name a file by the directory of the compilation and the name that the build or an
 * #include used, so /src/build/../lib/x.c and /src/lib/x.c may be one file. Every view must sum it
 * once, so names are brought into one form here, for debug information, caches, packed profiles and
 * scripts alike. The form follows from the text alone: the profile may be another machine's, or the
 * build directory may be gone. It would be wrong if `build` were a symbolic link. Where the files
 * are on this machine, that is checked, and a name that would become another file's stays as it is.
 * Elsewhere nothing can be opened, so no view can show a wrong source. */
#include "open/symbolise.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/frame_name.h"
#include "symbol/debug_dirs.h"
#include "symbol/symbol.h"
#include "type/structures.h"
#include "type/types.h"
#include "util/path.h"
#include "view/style.h"

static void
symbolise_show_progress(void *arg, size_t done, size_t total)
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

    if (style_shows_progress() && what == SERVER_ASKED) {
        fprintf(stderr, "\rheaptap: asking the server in DEBUGINFOD_URLS for %s\x1b[K",
                style_clean(&a, path_basename(path)));
        *shown = true;
    } else if (*shown) {
        fputs("\r\x1b[K", stderr);
    }
    if (what == SERVER_SILENT)
        message_warning("the server in DEBUGINFOD_URLS does not answer and is not asked any more; "
                        "DEBUGINFOD_TIMEOUT sets the seconds to wait, DEBUGINFOD_URLS= heaptap … "
                        "disables it");
    arena_release(&a);
}

bool
symbolise_is_directory(const char *option, const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return true;
    message_error("option '--%s': %s is no directory", option, path);
    return false;
}

bool
symbolise_can_use(const struct symbol_choice *choice)
{
    if (choice->sysroot != NULL && !symbolise_is_directory("sysroot", choice->sysroot))
        return false;
    for (size_t i = 0; i < choice->debug_dirs.count; i++)
        if (!symbolise_is_directory("debug-dir", choice->debug_dirs.items[i]))
            return false;
    return true;
}

struct debug_dirs *
symbolise_dirs(const struct symbol_choice *choice)
{
    if (choice == NULL || choice->debug_dirs.count == 0)
        return NULL;
    return debug_dirs_new(choice->debug_dirs.items, choice->debug_dirs.count);
}

/* Return true if A and B are files below ROOT (or NULL), or only A is one, and they differ. */
static bool
are_other_files(const char *root, const char *a, const char *b)
{
    struct stat of_a, of_b;
    int fd = regular_open(root, a, &of_a), other = fd < 0 ? -1 : regular_open(root, b, &of_b);
    bool same = fd < 0 || (other >= 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);

    if (fd >= 0)
        close(fd);
    if (other >= 0)
        close(other);
    return !same;
}

/* Return the one form of NAME, the name of a file. */
static uint32_t
normal_file(struct profile *p, uint32_t name)
{
    const char *given = profile_string(p, name), *normal = path_normal(given, &p->arena);

    if (normal == given || are_other_files(p->sysroot, given, normal))
        return name;
    return strtab_id(&p->strings, normal);
}

static void
normalise_files(struct profile *p)
{
    struct arena scratch = {0};
    size_t count = p->strings.count;
    uint32_t *normal = arena_array(&scratch, count, sizeof *normal);

    for (size_t i = 0; i < p->frame_count; i++) {
        uint32_t file = p->frames[i].file;

        if (file == 0 || file >= count)
            continue;
        if (normal[file] == 0)
            normal[file] = normal_file(p, file);
        if (normal[file] != file)
            profile_set_file(p, (uint32_t)i, normal[file]);
    }
    arena_release(&scratch);
}

int
symbolise_quietly(struct profile *p, const struct symbol_choice *choice)
{
    bool shown = false;
    struct symbol_options options = {.server = show_server, .progress_arg = &shown};
    struct err err = {""};
    int rc;

    if (choice != NULL && !symbolise_can_use(choice))
        return EXIT_USAGE;
    if (choice != NULL && choice->sysroot != NULL)
        p->sysroot = arena_strdup(&p->arena, choice->sysroot);
    if (choice != NULL && choice->silent)
        options.server = NULL;
    else if (style_shows_progress())
        options.progress = symbolise_show_progress;
    options.debug_dirs = symbolise_dirs(choice);
    options.module_cache = choice != NULL ? choice->module_cache : NULL;
    rc = symbol_resolve(p, &options, &err);
    if (rc == 0)
        normalise_files(p);
    debug_dirs_free(options.debug_dirs);
    if (shown)
        fputs("\r\x1b[K", stderr);
    if (rc != 0 && (choice == NULL || !choice->silent))
        message_error("%s", err.text);
    return rc == 0 ? 0 : exit_code(rc);
}

void
symbolise_types(struct profile *p, const struct symbol_choice *choice)
{
    struct symbol_options options = {.debug_dirs = symbolise_dirs(choice),
                                     .module_cache = choice != NULL ? choice->module_cache : NULL};

    symbol_types(p, &options);
    debug_dirs_free(options.debug_dirs);
}

void
symbolise_structures(struct profile *p, const struct symbol_choice *choice, const uint32_t *names,
                     size_t count)
{
    struct symbol_options options = {.debug_dirs = symbolise_dirs(choice)};

    symbol_structures(p, &options, names, count);
    debug_dirs_free(options.debug_dirs);
}

bool
symbolise_variable(struct profile *p, const struct symbol_choice *choice, uint64_t address,
                   struct variable_members *ret)
{
    struct symbol_options options = {.debug_dirs = symbolise_dirs(choice)};
    bool found = false;

    for (uint32_t i = 1; i < p->module_count && !found; i++)
        if (!p->modules[i].unloaded && p->modules[i].path[0] == '/' &&
            address >= p->modules[i].start && address < p->modules[i].end)
            found = symbol_variable_members(p, &options, i, address, ret);
    debug_dirs_free(options.debug_dirs);
    return found;
}

int
symbolise(struct profile *p, const struct symbol_choice *choice)
{
    int rc = symbolise_quietly(p, choice);

    if (rc != 0)
        return rc;
    // If P is damaged, the view begins with the damage, and JSON has all notes.
    for (size_t i = 0; i < p->note_count && p->damage == NULL; i++)
        message_warning("%s", p->notes[i]);
    return 0;
}
