/* cmd_pack.c: `heaptap pack`: make a profile readable on any machine. `heaptap run` packs its
 * profiles itself. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/run_summary.h"
#include "command/sink.h"
#include "load/load.h"
#include "open/symbolise.h"
#include "option/shared_opts.h"
#include "profile/listing.h"
#include "profile/origin.h"
#include "profile/pack.h"
#include "view/phrases.h"
#include "view/style.h"

struct pack_options {
    const char *output;
    struct symbol_choice symbols;
};
static const struct pack_options defaults;

static const struct opt options[] = {
    {OPT_STRING, 'o', "output", &defaults.output, "FILE",
     "Write there and leave the original alone. Default: replace it.", NULL},
    SYMBOL_OPTIONS(defaults.symbols),
    {0},
};

/* Return the default output for P, the profile at PATH: PATH itself, or a file beside it if a
 * process may still write to PATH. Returns NULL, after printing an error, if that file exists. */
static const char *
place_for(const struct profile *p, const char *path, struct arena *a)
{
    static const char suffix[] = ".heaptap";
    size_t length = strlen(path), cut = sizeof suffix - 1;
    const char *beside;

    if (!p->process.unsure)
        return path;
    if (length < cut || strcmp(path + length - cut, suffix) != 0)
        cut = 0;
    beside = arena_printf(a, "%.*s.packed.heaptap", (int)(length - cut), path);
    if (access(beside, F_OK) == 0) {
        message_error(
            "cannot determine from here whether a process still writes %s, and %s exists; "
            "name another file with -o",
            path, beside);
        return NULL;
    }
    message_warning("cannot determine from here whether a process still writes %s (in another "
                    "container or on another machine); the file is left unchanged",
                    path);
    return beside;
}

static int
pack_one(const char *what, const struct pack_options *o)
{
    struct arena a = {0}, tables = {0};
    struct err err = {""};
    struct raw_file raw = {0};
    struct names_hint hint = {0};
    struct profile *p = NULL;
    struct stat st = {0};
    const char *path = what, *target = o->output;
    uint32_t pid;
    int r = 0;

    if (origin_is_pid(what, &pid))
        r = origin_of_pid(pid, &a, &path, &err);
    if (r == 0)
        r = profile_open_tables(path, &tables, &raw, &p, &err);
    if (r == 0)
        r = symbolise(p, &o->symbols);
    if (r == 0) {
        target = target ? target : place_for(p, path, &a);
        if (target == NULL) {
            profile_free(p);
            raw_release(&raw);
            arena_release(&tables);
            arena_release(&a);
            return EXIT_USAGE;
        }
        if (p->damage != NULL)
            message_warning("%s", damage_sentence(&a, p));
        symbolise_types(p, &o->symbols);
        names_hint_add_all(&hint, p, false);
        r = pack_tables(path, &raw, p, target, &err);
    }
    if (r < 0)
        message_error("%s", err.text);
    else if (stat(target, &st) == 0)
        r = sink_print(arena_printf(&a, "%s: %s\n", style_clean(&a, target),
                                    style_bytes(&a, st.st_size)));
    names_hint_print(&hint);
    profile_free(p);
    raw_release(&raw);
    arena_release(&tables);
    arena_release(&a);
    return r < 0 ? exit_code(r) : r;
}

int
pack_file(const char *path)
{
    return pack_one(path, &defaults);
}

/* Return the target of NAME if NAME, given by the user, is a symbolic link. Links that were found
 * in a directory are replaced instead of resolved, because they may be somebody else's. */
static const char *
real_link(const char *name, struct arena *a)
{
    struct stat st;
    char *path;

    if (lstat(name, &st) != 0 || !S_ISLNK(st.st_mode) || stat(name, &st) != 0 ||
        !S_ISREG(st.st_mode))
        return name;
    path = realpath(name, NULL);
    if (path != NULL)
        name = arena_strdup(a, path);
    free(path);
    return name;
}

static int
cmd_pack_run(const void *given, int count, char **arguments)
{
    const struct pack_options *o = given;
    struct arena a = {0};
    struct err err = {""};
    int worst = 0;

    if (o->output != NULL && count != 1) {
        message_error("-o takes exactly one profile to pack");
        return EXIT_USAGE;
    }
    for (int i = 0; i < count; i++) {
        const char **paths;
        size_t path_count = 0;
        int r = profile_list_session(real_link(arguments[i], &a), &a, &paths, &path_count, &err);

        if (r < 0) {
            message_error("%s", err.text);
            worst = exit_code(r);
        }
        for (size_t k = 0; k < path_count; k++) {
            r = pack_one(paths[k], o);
            if (r > worst)
                worst = r;
        }
    }
    arena_release(&a);
    return worst;
}

const struct command command_pack = {
    .name = "pack",
    .arguments = "PROFILE|DIRECTORY...",
    .summary = "add symbols to a profile and compress it",
    .description =
        "Rewrites a profile compressed and with its symbols, so that another machine can read it "
        "in well under a second, without the program and its debug information. All counters are "
        "kept.\n\n"
        "The profile of a running process can only be packed into another file (-o). If heaptap "
        "cannot determine whether the process runs, for example from inside a container, it also "
        "keeps the original and writes NAME.packed.heaptap beside it. -o does not replace "
        "another recorded profile.",
    .examples = "heaptap pack heaptap.server.123.heaptap\tin place\n"
                "heaptap pack -o now.heaptap 123\ta copy of the recording so far of process 123",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 1,
    .max_arguments = -1,
    .run = cmd_pack_run,
};
