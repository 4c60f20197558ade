/* text_paths.c: live blocks by partial path.
 *
 *       blocks        live        %  path
 *        5,019   999.9 KiB  100.0 %  || > main > make_red_widget > make_widget
 *            3      12 KiB    0.0 %  || > ... > json::Parser::value > json::Parser::object
 *                                       > json::Object::insert
 *
 * A path goes from the outermost function to the innermost, as in the paper, and "..." marks
 * missing callers. A heap of the program is the last step: "> parse > [heap parser arena]". Paths
 * are wrapped between functions; names may be shortened, but no function is omitted. Repeated
 * functions are written once with a count. Otherwise --callers 0 would print a recursion of a
 * thousand levels. */
#include "text/text.h"

#include <inttypes.h>
#include <string.h>

#include "analyse/tags.h"
#include "symbol/symbol.h"
#include "text/text_view.h"
#include "util/map.h"
#include "view/phrases.h"
#include "view/table.h"

enum { STEP_PERIOD_MAX = 4, PATH_INDENT = 3 };

/* A displayed step of a path, with the marks of recursion around it. */
struct word {
    const char *name;
    const char *site; // "" = not shown.
    const char *before, *after;
};

/* Words of a path, outermost first, and caches of their texts: a recursion may have the same text a
 * thousand times. */
struct words {
    struct word *v;
    size_t count, capacity;
    struct map names; // By function.
    // By file and line of a call. A call without a line is found by its location, with line 0.
    struct map sites;
};

static void
text_paths_add_word(struct arena *a, struct words *w, struct word word)
{
    arena_grow(a, &w->v, &w->capacity, w->count, sizeof *w->v);
    w->v[w->count++] = word;
}

static const char *
known_name(const struct text_view *v, const struct leak_paths *l, uint32_t function, size_t width,
           struct words *w)
{
    uint64_t *known = map_put(&w->names, function, NULL);

    if (*known == 0)
        *known = (uintptr_t)text_function(v, l->functions, function, width);
    return (const char *)(uintptr_t)*known;
}

static const char *
known_site(const struct text_view *v, const struct path *path, uint32_t i, uint32_t function,
           struct words *w)
{
    const struct profile_frame *f;
    bool has_line;
    uint64_t *known;

    if (function < FUNCTION_FIRST)
        return "";
    f = &v->base.p->frames[path->stack->frames[i]];
    has_line = f->file != 0 && f->line != 0;
    known = map_put(&w->sites,
                    has_line ? (uint64_t)f->file << 32 | f->line
                             : (uint64_t)path->stack->locations[i] << 32,
                    NULL);
    if (*known == 0)
        *known = (uintptr_t)style_clean(
            v->base.arena, phrase_call_site(v->base.p, path, i, function, v->base.arena));
    return (const char *)(uintptr_t)*known;
}

/* Shorten call site and name of W so that they fit into WIDTH columns with its marks of recursion.
 * The end of a call site, its line, is kept. */
static void
fit_word(const struct text_view *v, struct word *w, size_t width)
{
    size_t marks = strlen(w->before) + strlen(w->after) + (*w->site != '\0' ? strlen(" ()") : 0);
    size_t room = width > marks ? width - marks : 0;
    size_t site = style_width(w->site), name = style_width(w->name);

    if (name + site <= room || text_is_wide(v))
        return;
    name = name < TEXT_NAME_MIN ? name : TEXT_NAME_MIN;
    if (name + site > room)
        w->site = style_cut_start(v->base.arena, w->site, room > name + 1 ? room - name : 1);
    name = room > style_width(w->site) ? room - style_width(w->site) : 1;
    w->name = style_cut_end(v->base.arena, symbol_shorten(v->base.arena, w->name, name), name);
}

/* Format step I of PATH, a call in FUNCTION, so that name and call site fit into WIDTH columns. */
static struct word
path_word(const struct text_view *v, const struct leak_paths *l, const struct path *path,
          uint32_t i, uint32_t function, size_t width, struct words *w)
{
    struct word word = {.name = known_name(v, l, function, width, w),
                        .site = l->call_sites ? known_site(v, path, i, function, w) : "",
                        .before = "",
                        .after = ""};

    fit_word(v, &word, width);
    return word;
}

/* Set *RET to the steps of PATH as words, shortened to WIDTH. */
static void
path_words(const struct text_view *v, const struct leak_paths *l, const struct path *path,
           size_t width, struct words *ret)
{
    const uint32_t *functions;

    functions_of_stack(l->functions, path->stack, &functions);
    for (uint32_t i = path->depth; i-- > 0;)
        text_paths_add_word(v->base.arena, ret, path_word(v, l, path, i, functions[i], width, ret));
    if (v->base.p->heaps[path->stack->heap].own)
        text_paths_add_word(
            v->base.arena, ret,
            (struct word){
                           .name = style_cut_end(
                    v->base.arena,
                    style_clean(v->base.arena, tags_text(&v->base.p->heaps[path->stack->heap],
                                                         &v->base.p->label_sets[0], v->base.arena)),
                    width),
                           .site = "",
                           .before = "",
                           .after = "",
            });
}

static bool
same_words(const struct word *a, const struct word *b)
{
    return (a->name == b->name || strcmp(a->name, b->name) == 0) &&
           (a->site == b->site || strcmp(a->site, b->site) == 0);
}

/* Return the number of times that the PERIOD words from FIRST on are repeated directly after
 * them. */
static size_t
text_paths_repetitions(const struct words *w, size_t first, size_t period)
{
    size_t n = 0;

    while (first + period + n < w->count && same_words(&w->v[first + n], &w->v[first + period + n]))
        n++;
    return n / period;
}

/* Return W with each repetition written once, followed by "(x 500)". */
static struct words
text_paths_fold_recursion(struct arena *a, const struct words *w)
{
    struct words ret = {0};

    for (size_t i = 0; i < w->count;) {
        size_t period = 1, times = 0;

        for (size_t k = 1; k <= STEP_PERIOD_MAX && times < 2; k++) {
            times = text_paths_repetitions(w, i, k);
            period = k;
        }
        if (times < 2) {
            text_paths_add_word(a, &ret, w->v[i++]);
            continue;
        }
        for (size_t k = 0; k < period; k++) {
            struct word word = w->v[i + k];

            word.before = k == 0 && period > 1 ? "(" : "";
            if (k + 1 == period)
                word.after = arena_printf(a, "%s x %zu", period > 1 ? ")" : "", times + 1);
            text_paths_add_word(a, &ret, word);
        }
        i += period * (times + 1);
    }
    return ret;
}

static size_t
word_width(const struct word *w)
{
    size_t width = strlen(w->before) + style_width(w->name) + strlen(w->after);

    return *w->site != '\0' ? width + style_width(w->site) + strlen(" ()") : width;
}

static void
put_word(struct text_view *v, const struct word *w, enum attr attr)
{
    if (attr != ATTR_PLAIN)
        style_attr(&v->style, v->out, attr);
    strbuf_str(v->out, w->before);
    strbuf_str(v->out, w->name);
    if (*w->site != '\0')
        strbuf_fmt(v->out, " (%s)", w->site);
    strbuf_str(v->out, w->after);
    if (attr != ATTR_PLAIN)
        style_attr(&v->style, v->out, ATTR_PLAIN);
    strbuf_pause(v->out);
}

/* Write "|| > main > f" in lines of at most WIDTH columns; indent further lines by INDENT. */
static void
put_path(struct text_view *v, const struct leak_paths *l, const struct path *path, size_t indent)
{
    size_t room = style_room(&v->style, indent + PATH_INDENT + 2), used = indent + 2;
    struct words all = {0}, words;

    room = room < TEXT_NAME_MIN ? TEXT_NAME_MIN : room;
    path_words(v, l, path, room, &all);
    words = text_paths_fold_recursion(v->base.arena, &all);
    for (size_t i = 0; i < words.count; i++) // Marks of recursion take room as well.
        fit_word(v, &words.v[i], room);
    strbuf_str(v->out, path->cut ? "|| > ..." : "||");
    used += path->cut ? 6 : 0;
    for (size_t i = 0; i < words.count; i++) {
        size_t width = word_width(&words.v[i]);

        if (used + 3 + width > v->style.width && i + path->cut > 0) {
            strbuf_char(v->out, '\n');
            style_left(v->out, "", indent + PATH_INDENT - 1);
            used = indent + PATH_INDENT - 1;
        }
        strbuf_str(v->out, " > ");
        put_word(v, &words.v[i], i + 1 == words.count ? ATTR_BOLD : ATTR_PLAIN);
        used += 3 + width;
    }
    strbuf_char(v->out, '\n');
    map_release(&all.names);
    map_release(&all.sites);
}

struct paths_widths {
    size_t blocks, bytes;
    // 0 = no column: if other stacks shrank by more, a share of the growth would be meaningless.
    size_t percent;
};

static struct paths_widths
text_paths_measure(const struct text_view *v, const struct leak_paths *l, size_t shown)
{
    int64_t total = counters_live_bytes(&l->leaks->stacks.total);
    struct paths_widths w = {strlen("blocks"), strlen("live"),
                             total > 0 || l->leaks->shrunk_stacks == 0 ? 9 : 0};

    for (size_t i = 0; i < shown; i++) {
        const struct counters *c = &l->paths->v[i].counters;
        size_t blocks = style_width(style_count(v->base.arena, counters_live_blocks(c)));
        size_t bytes = style_width(style_bytes(v->base.arena, counters_live_bytes(c)));

        w.blocks = blocks > w.blocks ? blocks : w.blocks;
        w.bytes = bytes > w.bytes ? bytes : w.bytes;
    }
    return w;
}

static void
text_paths_put_row(struct text_view *v, const struct leak_paths *l, const struct path *path,
                   const struct paths_widths *w)
{
    const struct counters *c = &path->counters;
    const char *error = sampling_error(v->base.arena, c, path->errors, METRIC_INUSE);
    size_t before_path = w->blocks + w->bytes + w->percent + 4;

    // In estimates a path may have bytes and no whole block.
    style_right(v->out,
                counters_live_blocks(c) == 0 && counters_live_bytes(c) > 0
                    ? "<1"
                    : style_count(v->base.arena, counters_live_blocks(c)),
                w->blocks);
    style_attr(&v->style, v->out, ATTR_NUMBER);
    style_right(v->out, style_bytes(v->base.arena, counters_live_bytes(c)), w->bytes + 2);
    style_attr(&v->style, v->out, ATTR_PLAIN);
    if (w->percent > 0)
        style_right(v->out,
                    style_percent(v->base.arena, counters_live_bytes(c),
                                  counters_live_bytes(&l->leaks->stacks.total)),
                    w->percent);
    strbuf_str(v->out, "  ");
    put_path(v, l, path, before_path);
    if (*error != '\0')
        text_below(v, before_path, error + 1);
}

void
text_paths(struct text_view *v, const struct leak_paths *l)
{
    size_t limit = v->base.limit ? v->base.limit : TEXT_LIMIT;
    size_t shown = l->paths->count < limit ? l->paths->count : limit;
    struct paths_widths w = text_paths_measure(v, l, shown);

    text_leaks_head(v, l->leaks, l->paths->count, "path");
    if (shown > 0) {
        strbuf_char(v->out, '\n');
        style_attr(&v->style, v->out, ATTR_DIM);
        style_right(v->out, "blocks", w.blocks);
        style_right(v->out, "live", w.bytes + 2);
        style_right(v->out, w.percent > 0 ? "%" : "", w.percent);
        strbuf_str(v->out, "  path");
        style_attr(&v->style, v->out, ATTR_PLAIN);
        strbuf_char(v->out, '\n');
    }
    for (size_t i = 0; i < shown; i++)
        text_paths_put_row(v, l, &l->paths->v[i], &w);
    text_more(v, shown, l->paths->count, "path");
    if (shown > 0)
        text_prose(v, ATTR_DIM,
                   "Paths: || is where the program begins, each > a call; the last one allocates");
    text_leaks_shrunk(v, l->leaks);
    text_suppressions(v, l->leaks->suppressed_blocks, l->leaks->suppressed_bytes,
                      l->suppressions);
    text_losses(v, loss_stack_field_count);
}

void
classic_paths(struct text_view *v, const struct leak_paths *l)
{
    int64_t total = counters_live_bytes(&l->leaks->stacks.total);
    size_t limit = v->base.limit ? v->base.limit : SIZE_MAX;

    strbuf_str(v->out, "  allocs       bytes (%)  path\n\n");
    for (size_t i = 0; i < l->paths->count && i < limit; i++) {
        const struct counters *c = &l->paths->v[i].counters;

        strbuf_fmt(v->out, "%8" PRId64, counters_live_blocks(c));
        style_right(v->out, classic_share(v->base.arena, counters_live_bytes(c), total), 16);
        strbuf_str(v->out, "  ");
        put_path(v, l, &l->paths->v[i], 26);
    }
}
