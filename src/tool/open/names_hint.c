/* names_hint.c: name the files that lack symbols, and the packages that provide them.
 *
 * A long list of hints under each report would be ignored. Therefore there are at most
 * MODULES_LISTED hints, each about one file and on one line of 100 columns with its prefix: the
 * directory is omitted first, then the share. Each file is on stacks with at least SHARE_REPORTED
 * of the shown bytes, and the first screen shows one of the file's nameless functions. If no names
 * are missing, the hint names a program that has a symbol table but no line numbers. Distributions
 * strip symbol tables, so the user has built such a program.
 *
 * The remedy is as exact as possible: the package of the file, whose debug package has the names
 * (the debug package itself is not named, because its name varies between distributions). For other
 * files it is an option, and the first digits of the build id, the key for directories. */
#include "open/symbolise.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "symbol/package.h"
#include "symbol/symbol.h"
#include "util/path.h"
#include "view/messages.h"
#include "view/style.h"

enum { MODULES_LISTED = 2, BUILD_ID_DIGITS = 8, HINT_WIDTH = 94 };

#define SHARE_REPORTED 0.05
// A hint with at least this share is above the report: without it, the rows make no sense.
#define SHARE_EXPLAINED 0.5

static const char *
hex_build_id(const struct profile_module *m, struct arena *arena)
{
    char hex[2 * PROFILE_BUILD_ID_MAX + 1] = "";

    for (uint32_t i = 0; i < m->build_id_bytes; i++)
        snprintf(hex + 2 * (size_t)i, 3, "%02x", m->build_id[i]);
    return arena_strdup(arena, hex);
}

/* Return the gap for the file of M, created if new. */
static struct names_gap *
find_gap(struct names_hint *h, const struct profile *p, uint32_t module)
{
    const struct profile_module *m = &p->modules[module];
    const char *build_id = hex_build_id(m, &h->arena);
    bool changed = m->file == FILE_CHANGED && m->symbols != SYMBOLS_DEBUG;
    const char *lack = changed ? "has changed"
                               : symbol_lack(p, module, &h->arena);

    for (size_t i = 0; i < h->count; i++)
        if (strcmp(h->gaps[i].path, m->path) == 0 && strcmp(h->gaps[i].build_id, build_id) == 0)
            return &h->gaps[i];
    arena_grow(&h->arena, &h->gaps, &h->capacity, h->count, sizeof *h->gaps);
    h->gaps[h->count] = (struct names_gap){
        .path = arena_strdup(&h->arena, m->path),
        .build_id = build_id,
        .lack = arena_strdup(&h->arena, lack != NULL ? lack : "lacks some"),
        .lists = arena_printf(&h->arena, "%s" PACKAGE_LISTS, p->sysroot != NULL ? p->sysroot : ""),
        .elsewhere = m->file == FILE_MISSING || m->file == FILE_CHANGED,
    };
    return &h->gaps[h->count++];
}

static bool
names_hint_is_empty(const struct unsymbolized_bytes *b)
{
    return b->by_metric[0] <= 0 && b->by_metric[1] <= 0 && b->by_metric[2] <= 0;
}

/* Record the gaps of MODULES, indexed by P's module ids, with their shares of TOTAL. Leave out the
 * modules whose NAMELESS is false, unless it is NULL. */
static void
add_modules(struct names_hint *h, const struct profile *p,
            const struct unsymbolized_module *modules, const struct unsymbolized_bytes *total,
            const bool *nameless)
{
    unsymbolized_bytes_add(&h->total, total);
    for (uint32_t i = 1; i < p->module_count; i++) {
        const struct profile_module *m = &p->modules[i];

        if (m->path[0] != '/')
            continue;
        if ((nameless == NULL || nameless[i]) && !names_hint_is_empty(&modules[i].unsymbolized))
            unsymbolized_bytes_add(&find_gap(h, p, i)->bytes, &modules[i].unsymbolized);
        if (m->symbols != SYMBOLS_TABLE || !profile_is_program(p, i) ||
            names_hint_is_empty(&modules[i].lineless))
            continue;
        h->lineless = arena_strdup(&h->arena, m->path);
        unsymbolized_bytes_add(&h->lineless_bytes, &modules[i].lineless);
    }
}

void
names_hint_add(struct names_hint *h, const struct profile *p, const struct stacks *stacks,
               const bool *nameless)
{
    struct arena scratch = {0};
    struct unsymbolized_bytes total = unsymbolized_bytes(&stacks->total);

    add_modules(h, p, unsymbolized_modules(p, stacks, &scratch), &total, nameless);
    arena_release(&scratch);
}

void
names_hint_add_all(struct names_hint *h, const struct profile *p, bool fold_recursion)
{
    struct arena scratch = {0};
    struct unsymbolized_bytes total;
    const struct unsymbolized_module *modules =
        unsymbolized_modules_of_all(p, fold_recursion, &total, &scratch);

    add_modules(h, p, modules, &total, NULL);
    arena_release(&scratch);
}

static int
compare_gaps(const void *left, const void *right, void *arg)
{
    const struct names_gap *a = left, *b = right;
    double x = unsymbolized_share(&a->bytes, arg), y = unsymbolized_share(&b->bytes, arg);

    if (x != y)
        return x > y ? -1 : 1;
    return strcmp(a->path, b->path);
}

/* Set NAMES to the packages of the first COUNT files; NULL = none. */
static void
find_packages(struct names_hint *h, size_t count, const char *names[MODULES_LISTED])
{
    const char *paths[MODULES_LISTED];

    for (size_t i = 0; i < count; i++) {
        char *real = h->gaps[i].elsewhere ? NULL : realpath(h->gaps[i].path, NULL);

        paths[i] = real != NULL ? arena_strdup(&h->arena, real) : h->gaps[i].path;
        // The recorded file is not on this machine, so the installed package has other names.
        if (h->gaps[i].elsewhere)
            paths[i] = "";
        names[i] = NULL;
        free(real);
    }
    // Results from other machines' lists are not cached for later commands.
    package_find(h->gaps[0].lists, strcmp(h->gaps[0].lists, PACKAGE_LISTS) == 0, paths, count,
                 names, &h->arena);
}

/* Return the hint about GAP, a file of PACKAGE (or NULL), with NAME for the file. With a package,
 * the share of the bytes is omitted if BRIEF is true. */
static const char *
gap_text(struct names_hint *h, const struct names_gap *gap, const char *package, const char *name,
         bool brief)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    const char *share = arena_printf(&h->arena, "%.0f %% of the bytes",
                                     100 * unsymbolized_share(&gap->bytes, &h->total));

    if (package != NULL && (urls == NULL || *urls == '\0'))
        return arena_printf(&h->arena, "%s %s%s: install the debug package of %s", name, gap->lack,
                            brief ? "" : arena_printf(&h->arena, " (%s)", share), package);
    if (*gap->build_id != '\0')
        share = arena_printf(&h->arena, "%s, build id %.*s\xe2\x80\xa6", share, BUILD_ID_DIGITS,
                             gap->build_id);
    return arena_printf(&h->arena, "%s %s (%s): use %s", name, gap->lack, share,
                        gap->elsewhere ? "--sysroot or --debug-dir" : "--debug-dir");
}

static void
print_gaps(struct names_hint *h, size_t count)
{
    const char *packages[MODULES_LISTED];

    find_packages(h, count, packages);
    for (size_t i = 0; i < count; i++) {
        const struct names_gap *gap = &h->gaps[i];
        const char *text = gap_text(h, gap, packages[i], gap->path, false);

        if (style_width(text) > HINT_WIDTH)
            text = gap_text(h, gap, packages[i], path_basename(gap->path), false);
        if (style_width(text) > HINT_WIDTH)
            text = gap_text(h, gap, packages[i], path_basename(gap->path), true);
        message_hint("%s", text);
    }
}

bool
names_hint_explains(const struct names_hint *h)
{
    for (size_t i = 0; i < h->count; i++)
        if (unsymbolized_share(&h->gaps[i].bytes, &h->total) >= SHARE_EXPLAINED)
            return true;
    return false;
}

void
names_hint_print(struct names_hint *h)
{
    size_t count = 0;

    if (h->count > 1)
        qsort_r(h->gaps, h->count, sizeof *h->gaps, compare_gaps, &h->total);
    while (count < h->count && count < MODULES_LISTED &&
           unsymbolized_share(&h->gaps[count].bytes, &h->total) >= SHARE_REPORTED)
        count++;
    if (count > 0)
        print_gaps(h, count);
    else if (h->lineless != NULL &&
             unsymbolized_share(&h->lineless_bytes, &h->total) >= SHARE_REPORTED)
        message_hint("%s has no debug information, so lines are missing; compile it with -g",
                     path_basename(h->lineless));
    arena_release(&h->arena);
    *h = (struct names_hint){0};
}
