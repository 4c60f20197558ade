/* cmd_merge.c: `heaptap merge`: sum many processes, from many hosts, in one profile.
 *
 * The names of all inputs are checked before the first input is read, so that a wrong name or an
 * impossible output is reported at once. Then each input is read, symbolised if necessary, added
 * and released (merge/merge.c). An unreadable input ends the merge, because a sum that silently
 * lacks a part is worse than none. With --skip-bad the merge continues, and the result lists the
 * missing inputs. The output is written only after all inputs were added. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/sink.h"
#include "load/load.h"
#include "merge/merge.h"
#include "open/symbolise.h"
#include "option/shared_opts.h"
#include "profile/listing.h"
#include "profile/origin.h"
#include "profile/pack.h"
#include "profile/writer.h"
#include "util/map.h"
#include "util/path.h"
#include "view/phrases.h"
#include "view/style.h"

enum { WARNINGS_SHOWN = 10 };

struct merge_options {
    const char *output;
    bool skip_bad;
    struct symbol_choice symbols;
};
static const struct merge_options defaults;

static const struct opt options[] = {
    {OPT_STRING, 'o', "output", &defaults.output, "FILE", "Write the result there. Required.",
     NULL},
    {OPT_FLAG, 0, "skip-bad", &defaults.skip_bad, NULL,
     "Skip unreadable profiles instead of ending. The result states how many.", NULL},
    SYMBOL_OPTIONS(defaults.symbols),
    {0},
};

struct inputs {
    struct arena arena;
    const char **v;
    size_t count, capacity;
    struct map known; // Files by device and inode.
    size_t twice;
};

/* Messages to print at the end of a merge, each once. */
struct sentences {
    struct strtab texts;
    size_t left_out; // Number of messages beyond the maximum.
};

/* Return true if PATH is a new file, or no file: then opening it will fail. */
static bool
is_new_file(struct inputs *in, const char *path)
{
    struct stat st;
    bool is_new;

    if (stat(path, &st) != 0)
        return true;
    map_put(&in->known, (uint64_t)st.st_dev << 40 ^ st.st_ino, &is_new);
    if (!is_new && in->twice++ == 0)
        message_warning("%s is named twice; it counts once", path);
    return is_new;
}

/* Add the profiles that NAME refers to: a profile, a process, or all profiles in a directory.
 * Returns 0 or an exit code. */
static int
add_input(struct inputs *in, const char *name)
{
    struct err err = {""};
    const char **paths;
    size_t count = 0;
    uint32_t pid;
    // A process is identified by its file, so that it counts once if both names are given.
    int r = origin_is_pid(name, &pid) ? origin_of_pid(pid, &in->arena, &name, &err) : 0;

    if (r == 0)
        r = profile_list_session(name, &in->arena, &paths, &count, &err);

    if (r < 0) {
        message_error("%s", err.text);
        return exit_code(r);
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_new_file(in, paths[i]))
            continue;
        arena_grow(&in->arena, &in->v, &in->capacity, in->count, sizeof *in->v);
        in->v[in->count++] = paths[i];
    }
    return 0;
}

/* Add the names in TEXT, one per line. Returns 0 or an exit code. */
static int
add_lines(struct inputs *in, struct strbuf *text)
{
    char *end = text->text + text->length;
    int r = 0;

    for (char *line = text->text; r == 0 && line < end;) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        char *next = newline != NULL ? newline + 1 : end;

        if (newline != NULL)
            *newline = '\0';
        line[strcspn(line, "\r")] = '\0';
        if (*line != '\0')
            r = add_input(in, line);
        line = next;
    }
    return r;
}

/* Add the names in the file LIST; "-" is standard input. Returns 0 or an exit code. */
static int
add_list(struct inputs *in, const char *list)
{
    bool is_stdin = strcmp(list, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(list, "re");
    struct strbuf text = {0};
    const char *why;
    int r;

    if (f == NULL) {
        message_error("cannot open the list %s: %s", list, strerror(errno));
        return EXIT_BAD_INPUT;
    }
    why = text_read(f, &text);
    if (why != NULL)
        message_error("cannot read the list %s: %s", list, why);
    r = why != NULL ? EXIT_BAD_INPUT : add_lines(in, &text);
    strbuf_release(&text);
    if (!is_stdin)
        fclose(f);
    return r;
}

/* Check that OUTPUT can be written and is not a file with irreplaceable data. Returns 0 or an exit
 * code. */
static int
cmd_merge_check_output(struct inputs *in, const char *output)
{
    const char *slash = strrchr(output, '/');
    const char *dir =
        slash == NULL ? "." : arena_strndup(&in->arena, output, (size_t)(slash - output) + 1);
    struct disk_header h;
    struct stat st;

    if (stat(output, &st) != 0) {
        if (access(dir, W_OK | X_OK) == 0)
            return 0;
        message_error("cannot write %s: %s", output, strerror(errno));
        return EXIT_BAD_INPUT;
    }
    if (!S_ISREG(st.st_mode)) {
        message_error("%s is not a regular file; name another for the output", output);
        return EXIT_USAGE;
    }
    if (map_get(&in->known, (uint64_t)st.st_dev << 40 ^ st.st_ino) != NULL) {
        message_error("%s is an input of the merge; name another file for the output", output);
        return EXIT_USAGE;
    }
    if (origin_header(output, &h) && h.merged_processes == 0) {
        message_error(
            "%s is a recorded profile; name another file for the output, or remove it first",
            output);
        return EXIT_USAGE;
    }
    return 0;
}

/* The sum of all inputs. Inputs without types are first summed by program, because finding types
 * takes longer than everything else. So it runs once per program, whatever the number of inputs. */
struct sums {
    struct merge *all;
    const struct symbol_choice *symbols;
    size_t shown_percent; // Progress shown last; SIZE_MAX = none.
    struct strtab programs;
    struct map untyped; // By program: struct merge *.
};

static struct merge *
sum_for(struct sums *s, const struct profile *p)
{
    uint64_t *known;

    if (p->typed)
        return s->all;
    known = map_put(&s->untyped, strtab_id(&s->programs, p->process.executable), NULL);
    if (*known == 0)
        *known = (uintptr_t)merge_new();
    return (struct merge *)(uintptr_t)*known;
}

/* Release S's sums of profiles by program. If WANTED, first add each sum to the total, with the
 * types of its blocks. */
static void
finish_untyped(struct sums *s, bool wanted)
{
    for (uint32_t i = 0; i < s->programs.count; i++) {
        const uint64_t *known = map_get(&s->untyped, i);
        struct merge *m = known ? (struct merge *)(uintptr_t)*known : NULL;

        if (m != NULL && wanted) {
            struct profile *p = merge_finish(m);

            symbolise_types(p, s->symbols);
            merge_add(s->all, p);
        }
        if (m != NULL)
            merge_free(m);
    }
    map_release(&s->untyped);
    strtab_release(&s->programs);
}

static void
keep_sentence(struct sentences *s, size_t limit, const char *text)
{
    if (s->texts.count > limit)
        s->left_out++;
    else
        strtab_id(&s->texts, text);
}

static void
cmd_merge_show_progress(struct sums *s, size_t done, size_t total)
{
    size_t percent = done * 100 / total;

    if (percent == s->shown_percent || !style_shows_progress())
        return;
    s->shown_percent = percent;
    fprintf(stderr, "\rheaptap: merging, %zu of %zu\x1b[K", done, total);
}

static void
hide_progress(void)
{
    if (style_shows_progress())
        fputs("\r\x1b[K", stderr);
}

/* Symbolise P, the profile at PATH, add it to S, and keep its messages. Names that a packed profile
 * lacks are looked up once, in the sum. Returns 0 or an exit code. */
static int
add_loaded(struct sums *s, const char *path, struct profile *p, struct sentences *warnings)
{
    struct arena a = {0};
    int rc = p->symbolised ? 0 : symbolise_quietly(p, s->symbols);

    if (rc != 0)
        return rc;
    if (!merge_takes_callers(sum_for(s, p), p)) {
        hide_progress();
        message_error("%s: the inputs were recorded with more than %d different --callers", path,
                      CALLERS_PERIODS_MAX - 1);
        arena_release(&a);
        return EXIT_USAGE;
    }
    merge_add(sum_for(s, p), p);
    if (p->damage != NULL)
        keep_sentence(warnings, WARNINGS_SHOWN, damage_sentence(&a, p));
    for (size_t i = 0; i < p->note_count && p->damage == NULL; i++)
        keep_sentence(warnings, WARNINGS_SHOWN, arena_printf(&a, "%s: %s", path, p->notes[i]));
    arena_release(&a);
    return 0;
}

/* Add the profile PATH to S. Returns 0 or an exit code after printing an error. */
static int
cmd_merge_add_profile(struct sums *s, const char *path, struct sentences *warnings)
{
    struct profile *p = NULL;
    struct err err = {""};
    int rc = profile_open(path, &p, &err);

    if (rc == 0) {
        rc = add_loaded(s, path, p, warnings);
    } else {
        hide_progress();
        message_error("%s", err.text);
        rc = exit_code(rc);
    }
    profile_free(p);
    return rc;
}

/* Add all readable inputs. Returns 0, or the exit code of the failure that ended the merge. */
static int
cmd_merge_add_all(struct sums *s, const struct inputs *in, bool skip_bad)
{
    struct sentences warnings = {0};
    size_t bad = 0;
    int rc = 0;

    for (size_t i = 0; i < in->count && rc == 0; i++) {
        cmd_merge_show_progress(s, i, in->count);
        rc = cmd_merge_add_profile(s, in->v[i], &warnings);
        if (rc == EXIT_BAD_INPUT && skip_bad) {
            merge_left_out(s->all);
            bad++;
            rc = 0;
        } else if (rc == EXIT_BAD_INPUT) {
            message_hint("nothing was written; --skip-bad skips unreadable profiles");
        }
    }
    hide_progress();
    for (uint32_t i = 1; i < warnings.texts.count; i++)
        message_warning("%s", strtab_get(&warnings.texts, i));
    if (warnings.left_out > 0)
        message_warning("%zu more such warning%s", warnings.left_out,
                        warnings.left_out == 1 ? "" : "s");
    if (rc == 0 && bad == in->count) {
        if (bad == 1)
            message_error("the only profile could not be read; nothing was written");
        else
            message_error("none of the %zu profiles could be read; nothing was written", bad);
        rc = EXIT_BAD_INPUT;
    } else if (rc == 0 && bad > 0) {
        message_warning("%zu of %zu profiles could not be read and are not in the result", bad,
                        in->count);
    }
    strtab_release(&warnings.texts);
    return rc;
}

/* Write the sum S to OUTPUT, and report its path. Returns the exit code. */
static int
write_sum(struct sums *s, const char *output, struct arena *arena)
{
    struct profile *p = merge_finish(s->all);
    struct names_hint hint = {0};
    struct strbuf file = {0};
    struct err err = {""};
    int rc = symbolise(p, s->symbols);

    if (rc != 0)
        return rc;
    symbolise_types(p, s->symbols);
    names_hint_add_all(&hint, p, false);
    rc = write_model(p, &file, &err);
    if (rc == 0)
        rc = write_output(&file, output, &err);
    if (rc == 0)
        rc = sink_print(arena_printf(arena, "%s: %s, %s\n", style_clean(arena, output),
                                     style_bytes(arena, (int64_t)file.length),
                                     style_clean(arena, profile_title(p, arena))));
    else
        message_error("%s", err.text);
    names_hint_print(&hint);
    strbuf_release(&file);
    return rc < 0 ? exit_code(rc) : rc;
}

static int
merge_inputs(struct inputs *in, const struct merge_options *o)
{
    struct sums s = {.all = merge_new(), .symbols = &o->symbols, .shown_percent = SIZE_MAX};
    int rc = cmd_merge_add_all(&s, in, o->skip_bad);

    finish_untyped(&s, rc == 0);
    if (rc == 0)
        rc = write_sum(&s, o->output, &in->arena);
    merge_free(s.all);
    return rc;
}

static int
cmd_merge_run(const void *given, int count, char **arguments)
{
    const struct merge_options *o = given;
    struct inputs in = {0};
    int rc = 0;

    if (o->output == NULL) {
        message_error("merge: option '-o' is missing: the file for the result");
        return EXIT_USAGE;
    }
    for (int i = 0; i < count && rc == 0; i++)
        rc =
            arguments[i][0] == '@' ? add_list(&in, arguments[i] + 1) : add_input(&in, arguments[i]);
    if (rc == 0 && in.count == 0) {
        message_error("there is no profile to merge; the lists are empty");
        rc = EXIT_USAGE;
    }
    if (rc == 0)
        rc = cmd_merge_check_output(&in, o->output);
    if (rc == 0)
        rc = merge_inputs(&in, o);
    map_release(&in.known);
    arena_release(&in.arena);
    return rc;
}

const struct command command_merge = {
    .name = "merge",
    .arguments = "PROFILE|PID|DIRECTORY|@LIST...",
    .summary = "add many profiles up into one",
    .description =
        "Writes the sum of several profiles as one: the processes of a session, many runs of a "
        "program, or many hosts. All views read it like any profile. @LIST is a file with one name "
        "per line, and @- reads names from standard input.\n\n"
        "Allocations, bytes, frees and live blocks add up exactly, by stack, size, thread name and "
        "type. Modules are matched by build id, or by path if they have none, so code counts as "
        "the same wherever it was loaded. The peak is the sum of all processes' peaks, which may "
        "have occurred at different times. The timeline adds up all processes on one clock. "
        "Snapshots belong to one process and are left out.\n\n"
        "The merge needs memory for the result and one profile, however many there are. An "
        "unreadable profile ends the merge with exit status 3, and nothing is written; --skip-bad "
        "leaves it out.",
    .examples = "heaptap merge -o all.heaptap heaptap.make.4711.processes\tall processes of a run\n"
                "heaptap merge -o week.heaptap host*/server.heaptap\tfrom many hosts\n"
                "find runs -name '*.heaptap' | heaptap merge -o runs.heaptap @-\ta great many\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 1,
    .max_arguments = -1,
    .run = cmd_merge_run,
};
