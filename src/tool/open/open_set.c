/* open_set.c: open the profiles that the argument WHAT names.
 *
 * Unreadable profiles of a session are reported and left out, so one damaged profile does not hide
 * the others. So are those that do not have the moment of --at or --between. A view of a single
 * profile gets the sum of a session (set_merge). The name of a file that was chosen by default goes
 * to stderr: a pipe gets only the view.
 */
#include "open/open_set.h"

#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyse/frame_name.h"
#include "load/load.h"
#include "merge/merge.h"
#include "open/symbolise.h"
#include "profile/caller_shares.h"
#include "profile/listing.h"
#include "profile/origin.h"
#include "profile/time_slice.h"
#include "view/phrases.h"
#include "view/style.h"

static const char *
newest_profile(struct arena *arena)
{
    const char *newest = NULL;
    struct timespec newest_time = {0};
    glob_t found = {0};
    int r = glob("*.heaptap", 0, NULL, &found);

    // With --only, the first process of a run may have no profile.
    if (r != 0)
        r = glob("*" ORIGIN_OTHERS_SUFFIX, 0, NULL, &found);
    if (r == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            struct stat st;

            if (stat(found.gl_pathv[i], &st) != 0)
                continue;
            if (newest && (st.st_mtim.tv_sec < newest_time.tv_sec ||
                           (st.st_mtim.tv_sec == newest_time.tv_sec &&
                            st.st_mtim.tv_nsec <= newest_time.tv_nsec)))
                continue;
            newest_time = st.st_mtim;
            newest = arena_strdup(arena, found.gl_pathv[i]);
        }
    }
    globfree(&found);
    return newest;
}

bool
set_is_picked(const struct profile *p, const char *patterns, struct arena *arena)
{
    const char *executable = p->process.executable ? p->process.executable : "";
    const char *command = p->process.command ? p->process.command : "";
    const char *names[] = {
        arena_printf(arena, "%u", p->process.pid),
        arena_printf(arena, "%u", p->process.pid_here),
        path_basename(executable),
        path_basename(arena_strndup(arena, command, strcspn(command, " "))),
    };

    for (const char *only = patterns; *only != '\0'; only += *only == ',') {
        size_t length = strcspn(only, ",");
        const char *pattern = arena_strndup(arena, only, length);

        for (size_t i = 0; i < countof(names); i++)
            if (fnmatch(pattern, names[i], 0) == 0)
                return true;
        only += length;
    }
    return false;
}

static int
open_set_by_size(const void *a, const void *b)
{
    const struct profile *x = *(const struct profile *const *)a;
    const struct profile *y = *(const struct profile *const *)b;

    int64_t of_x = x->totals.partial ? counters_live_bytes(&x->totals) : x->totals.peak_bytes;
    int64_t of_y = y->totals.partial ? counters_live_bytes(&y->totals) : y->totals.peak_bytes;

    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return x->process.pid < y->process.pid ? -1 : x->process.pid > y->process.pid;
}

/* Cut P to the time that OPTIONS select. Returns 0 or a negative heaptap_errc. */
static int
open_set_cut(struct profile *p, const struct view_options *options, struct err *err)
{
    struct profile_point span[2];
    int rc = 0;

    if (options->between)
        rc = time_slice_find_span(p, options->between, span, err);
    else if (options->at)
        rc = time_slice_find(p, options->at, &span[1], err);
    if (rc == 0 && (options->between || options->at))
        profile_cut(p, options->between ? &span[0] : NULL, &span[1]);
    return rc;
}

/* Return the time from the first start to the last end of SET's processes. */
static struct profile_clock
open_set_clock(const struct view_set *set)
{
    struct profile_clock clock = {.start_unix_ns = UINT64_MAX};

    for (size_t i = 0; i < set->count; i++) {
        const struct profile *p = set->v[i];
        uint64_t end_ns = time_of_end(p);

        if (p->process.start_unix_ns < clock.start_unix_ns)
            clock.start_unix_ns = p->process.start_unix_ns;
        if (end_ns > clock.end_unix_ns)
            clock.end_unix_ns = end_ns;
    }
    return clock;
}

/* Cut the profiles of SET to the time that OPTIONS select. One that lacks it is reported and left
 * out. Returns 0 or the exit code of the last one left out. */
static int
cut_all(struct view_set *set, const struct view_options *options)
{
    struct profile_clock clock = open_set_clock(set);
    size_t count = set->count;
    int failure = 0;

    if (options->at == NULL && options->between == NULL)
        return 0;
    set->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct profile *p = set->v[i];
        struct err err = {""};
        int rc;

        if (count > 1)
            p->clock = clock;
        rc = open_set_cut(p, options, &err);
        if (rc == 0) {
            set->v[set->count++] = p;
            continue;
        }
        if (p->damage != NULL)
            message_warning("%s", damage_sentence(&set->arena, p));
        message_error("%s", err.text);
        failure = exit_code(rc);
        set->unread = EXIT_BAD_INPUT;
        set->without_point++;
        profile_free(p);
    }
    return failure;
}

/* Load PATHS into RET. A profile of a session that cannot be read, or not at the moment of OPTIONS,
 * is reported and left out, unless it is the only one. */
static int
load_all(const char **paths, size_t count, const struct view_options *options, struct view_set *ret)
{
    struct err err = {""};
    int failure = 0, cut_rc;

    ret->v = arena_array(&ret->arena, count, sizeof *ret->v);
    for (size_t i = 0; i < count; i++) {
        struct profile *p;
        int rc = open_one(paths[i], &p, &err);

        if (rc != 0) {
            message_error("%s", err.text);
            ret->unread = failure = exit_code(rc);
            ret->unread_count++;
        } else if (options->only && !set_is_picked(p, options->only, &ret->arena)) {
            profile_free(p);
        } else {
            runtime_note_add(p);
            callers_spread(p, options->blocks);
            if (!profile_was_recorded(p))
                ret->unrecorded = arena_strdup(&ret->arena, p->path);
            ret->v[ret->count++] = p;
        }
    }
    cut_rc = cut_all(ret, options);
    if (cut_rc != 0)
        failure = cut_rc;
    qsort(ret->v, ret->count, sizeof(struct profile *), open_set_by_size);
    return ret->count ? 0 : failure;
}

int
set_open(const char *what, const struct view_options *options, struct view_set *ret)
{
    const char **paths;
    struct err err = {""};
    size_t count;
    int rc;

    *ret = (struct view_set){0};
    if (options->at && options->between) {
        message_error("--at and --between exclude each other");
        return EXIT_USAGE;
    }
    if (options->language_only && (options->native || options->keep_languages)) {
        message_error("--language-only excludes --native and --no-language-only");
        return EXIT_USAGE;
    }
    if (what == NULL) {
        what = newest_profile(&ret->arena);
        if (what == NULL) {
            message_error(
                "there is no *.heaptap file in the current directory; name a profile, a pid or a "
                "session directory");
            return EXIT_USAGE;
        }
        fprintf(stderr, "heaptap: showing %s\n", style_clean(&ret->arena, what));
    }
    ret->path = arena_strdup(&ret->arena, what);
    rc = profile_list_session(what, &ret->arena, &paths, &count, &err);
    if (rc != 0) {
        message_error("%s", err.text);
        return exit_code(rc);
    }
    rc = load_all(paths, count, options, ret);
    if (rc == 0 && ret->count == 0) {
        if (options->only)
            message_error("%s has no process '%s'", what, options->only);
        else
            message_error("%s: there is no profile in it", what);
        return EXIT_BAD_INPUT;
    }
    return rc;
}

void
set_close(struct view_set *set)
{
    for (size_t i = 0; i < set->count && set->sum == NULL; i++)
        profile_free(set->v[i]);
    if (set->sum != NULL)
        merge_free(set->sum);
    arena_release(&set->arena);
}

/* Return 0 if the processes of SET, cut under OPTIONS, can be summed, or the exit code after
 * reporting the reason. */
static int
check_moments(const struct view_set *set, const char *what, const struct view_options *options,
              enum set_history history)
{
    if (options->at != NULL && history == SET_OF_MOMENTS) {
        if (set->without_point == 0)
            return 0;
        message_error("%s: the sum needs the moment '%s' of each process; select those that have "
                      "it with --only",
                      what, options->at);
        return EXIT_BAD_INPUT;
    }
    if (set->count < 2 || (options->at == NULL && options->between == NULL))
        return 0;
    message_error("%s: %zu processes match, each with its own moments; pick one with --only PID, "
                  "or name its file",
                  what, set->count);
    return EXIT_USAGE;
}

int
set_merge(struct view_set *set, const char *what, const struct view_options *options,
          enum set_history history)
{
    const char *damage;
    int rc = check_moments(set, what, options, history);

    if (rc != 0)
        return rc;
    // A single readable profile is also treated as a sum, to report that others are missing. But a
    // sum has no moments.
    if (set->count == 1 && (set->unread_count == 0 || options->at || options->between)) {
        if ((damage = damage_without_point(set, &set->arena)) != NULL)
            message_warning("%s", damage);
        return 0;
    }
    damage = damage_of_profiles(set, &set->arena);
    if (damage != NULL)
        message_warning("%s", damage);
    set->sum = merge_new();
    if (history == SET_WITH_HISTORY) {
        struct profile_clock clock = open_set_clock(set);

        merge_keep_history(set->sum, clock.start_unix_ns, clock.end_unix_ns);
    }
    for (size_t i = 0; i < set->count; i++) {
        const struct profile *p = set->v[i];

        if (rc == 0 && (rc = symbolise_quietly(set->v[i], &options->symbols)) == 0) {
            for (size_t k = 0; k < p->note_count && p->damage == NULL; k++)
                message_warning("%s: %s", p->path, p->notes[k]);
            merge_add(set->sum, set->v[i]);
        }
        profile_free(set->v[i]);
    }
    for (size_t i = 0; i < set->unread_count; i++)
        merge_left_out(set->sum);
    set->v[0] = merge_finish(set->sum);
    if (options->at != NULL)
        set->v[0]->to.name = options->at;
    set->v[0]->path = arena_strdup(&set->v[0]->arena, what);
    set->count = 1;
    return rc;
}
