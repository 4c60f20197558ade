/* text_brief.c: the answer to "where is my memory?" on one screen.
 *
 *     At the peak  1.0 GiB in 8,421,504 blocks
 *       612.3 MiB   59.8 %  Index::add  src/index.cc:88 and 2 more lines
 *       401.0 MiB       #1    from load_segment ← Loader::run ← main
 *       211.3 MiB       #4    via vector::push_back, from merge ← compact ← worker
 *        88.0 MiB    8.6 %  in 41 more functions
 *
 * If most is in other functions, rows below the last show where the call tree divides:
 *
 *       800.0 MiB   78.1 %    below Server::handle
 *       500.0 MiB   48.8 %      below Query::run
 *
 * The whole report has at most SCREEN_LINES lines. Sections that need more lines show fewer callers
 * and then fewer rows (text_brief_fit). A given --limit is kept instead.
 *
 * A row is a function of user code (analyse/user_code.c), with its callers below. #4 is the number
 * of the largest stack of that line, for use in other views. A row sums all lines of the function;
 * it shows the largest and counts the others. Functions of the C++ library are left out of the
 * callers, but the container through which the row allocates is named.
 *
 * The first metric is the peak, unless nearly all of the peak is still live at the end; then live
 * blocks replace it, because they explain the peak and may be a leak. The second metric is live
 * blocks, unless they are few; in profiles of interpreters even if they are few, because readers
 * compare them with the peak. If malloc is called often, churn is shown as well. It counts
 * short-lived blocks if these are the majority, because one buffer could replace them; otherwise
 * calls. report --full has all metrics. */
#include "text/text.h"

#include <inttypes.h>
#include <string.h>

#include "analyse/fold.h"
#include "analyse/frame_name.h"
#include "analyse/group.h"
#include "analyse/tags.h"
#include "analyse/timeline.h"
#include "analyse/top_holders.h"
#include "analyse/tree_split.h"
#include "analyse/user_code.h"
#include "symbol/symbol.h"
#include "text/text_view.h"
#include "util/path.h"
#include "view/phrases.h"
#include "view/table.h"

enum {
    FIRST_ROWS = 5,
    SECOND_ROWS = 3,
    THIRD_ROWS = 2,
    FIRST_CALLERS = 2,
    ROW_PERCENT = 2,     // Smaller rows are summed in the last row.
    CALLER_PERCENT = 20, // Callers with less of their row than this are not shown.
    VALUE_WIDTH = 12,
    SHARE_WIDTH = 9,
    NAME_COLUMN = VALUE_WIDTH + SHARE_WIDTH + 2,
    BRANCH_INDENT = 2,
    PLACE_SHARE = 3, // A place gets at most the line's width divided by this.
    CHAIN_FRAMES = 12,
    CONTAINER_LINES = 16, // Lines of a holder whose containers are named.
    NAMELESS_FRAMES = 4, // Frames of a chain without any name.
    GROWING_ROWS = 3,
    SCREEN_LINES = 30,
    HINT_LINES = 2,      // Reserved for hints of the command (open/names_hint.c).
    SECTION_LINES = 4,   // Blank line, title, one row, and the rest.
    SECOND_LINES = 5,    // As above with two rows.
    FEWER_ROWS = 3,      // Callers are omitted before fewer rows than this are shown.
    FEWEST_ROWS = 2,     // Branches of the first section are omitted before fewer rows than this.
    FEWEST_BRANCHES = 2,
    SECOND_BRANCHES = 3, // Branches of the other sections.
};

// Minimum share of the peak at which live blocks are not few.
#define NOT_LITTLE 0.1

// Malloc is called often if there are this many calls, and this many times the peak's number of
// blocks; or if short-lived blocks have this share.
#define CALLS_OFTEN 100000
#define TURNOVER_OFTEN 10
#define MOSTLY 0.5
// Minimum share of the first row of a section on churn.
#define CHURN_ROW 0.1

#define ARROW " \xe2\x86\x90 "

/* Return the plain name of the function at frame I of S, without template arguments and
 * parameters. */
static const char *
text_brief_plain_name(const struct text_view *v, const struct stack *s, uint32_t i)
{
    const char *name = frame_name(v->base.p, s->frames[i], s->locations[i], v->base.arena);
    char plain[FOLD_NAME_MAX];

    name += fold_alias_length(name);
    // Names of a language have no parameters: "<module> (import json)".
    if (v->base.p->frames[s->frames[i]].function == 0 ||
        v->base.p->frames[s->frames[i]].language != 0)
        return style_clean(v->base.arena, name);
    fold_plain_name(name, plain);
    return style_clean(v->base.arena, arena_strdup(v->base.arena, plain));
}

/* Note that frame I of S is shown. If it has no name, a hint on its module helps. */
static void
text_brief_note_frame(const struct text_view *v, const struct stack *s, uint32_t i)
{
    const struct profile_frame *f = &v->base.p->frames[s->frames[i]];

    if (v->nameless != NULL && f->function == 0)
        v->nameless[f->module] = true;
}

/* Return NAME, of a function without a name in module MODULE, without the file of the module if
 * that is the module BEFORE: "+0x1f00…". */
static const char *
text_brief_same_module(const char *name, uint32_t module, uint32_t before)
{
    const char *offset = module != 0 && module == before ? strrchr(name, '+') : NULL;

    return offset != NULL ? offset : name;
}

/* Return true if a frame of S from I to before DEPTH has a name. */
static bool
has_name(const struct text_view *v, const struct stack *s, uint32_t i, uint32_t depth)
{
    for (; i < depth; i++)
        if (v->base.p->frames[s->frames[i]].function != 0)
            return true;
    return false;
}

/* Return true if frame I of S is a function of the C++ library, by its plain NAME. */
static bool
is_library_cxx(const struct text_view *v, const struct stack *s, uint32_t i, const char *name)
{
    const struct profile_frame *f = &v->base.p->frames[s->frames[i]];

    return f->function != 0 && f->language == 0 &&
           (strncmp(name, "std::", 5) == 0 || strncmp(name, "__gnu_cxx::", 11) == 0);
}

/* Return NAME, a plain name, as in "vector::push_back" if it is a function of a container,
 * otherwise NULL. */
static const char *
text_brief_container_call(const struct text_view *v, const char *name)
{
    static const char *const containers[] = {
        "vector", "deque", "list", "forward_list", "map", "multimap", "set", "multiset",
        "unordered_map", "unordered_multimap", "unordered_set", "unordered_multiset", "queue",
        "stack", "priority_queue", "valarray", "string", "function", "_Rb_tree",
        "_Hashtable",
    };
    size_t length;

    name = symbol_shorten(v->base.arena, name, STYLE_NO_LIMIT); // Without std::__cxx11.
    if (strncmp(name, "std::", 5) != 0)
        return NULL;
    name += strncmp(name, "std::basic_", 11) == 0 ? 11 : 5;
    length = strcspn(name, ":");
    for (size_t i = 0; i < countof(containers); i++)
        if (strlen(containers[i]) == length && strncmp(name, containers[i], length) == 0 &&
            name[length] == ':')
            return name;
    return NULL;
}

/* Return the outermost call of a container among the adjacent frames of the C++ library in S, from
 * frame I inwards, or outwards if OUTWARDS is true; NULL if there is none. */
static const char *
text_brief_container_near(const struct text_view *v, const struct stack *s, uint32_t i,
                          bool outwards)
{
    const char *found = NULL;

    for (; i < s->depth; i += outwards ? 1 : UINT32_MAX) {
        const char *name = text_brief_plain_name(v, s, i), *call;

        if (!is_library_cxx(v, s, i, name))
            break;
        call = text_brief_container_call(v, name);
        if (call != NULL && (outwards || found == NULL))
            found = call;
    }
    return found;
}

/* Return the container through which the holder at frame OWN of S allocates: it is called by the
 * holder, and its frames were folded, or it calls the holder, an allocator. Return NULL if there is
 * none. */
static const char *
text_brief_container(const struct text_view *v, const struct stack *s, uint32_t own)
{
    struct stack whole = stack_of_node(v->base.p, s->node, v->base.arena);
    const char *call = NULL;
    uint32_t i = 0;

    while (i < whole.depth && whole.frames[i] != s->frames[0])
        i++;
    if (own == 0 && i > 0 && i < whole.depth)
        call = text_brief_container_near(v, &whole, i - 1, false);
    return call != NULL ? call : text_brief_container_near(v, s, own + 1, true);
}

/* Return the callers of the holder at frame OWN of S: "load_segment ← Loader::run ← main".
 * Functions of the C++ library are left out unless ALL is true. A function without a name is shown
 * with its module, unless that is the module that was named last. */
static const char *
chain_of(const struct text_view *v, const struct stack *s, uint32_t own, bool all)
{
    uint32_t depth = stack_depth_in_loader(v->base.p, s), shown = 0;
    bool is_constructor = depth < stack_useful_depth(v->base.p, s) && own < depth;
    struct arena *a = v->base.arena;
    const char *text = "";
    bool unsymbolized = false;
    uint32_t first = top_holder_next(v->base.p, s, own);
    uint32_t limit = has_name(v, s, first, depth) ? CHAIN_FRAMES : NAMELESS_FRAMES;
    size_t room = style_room(&v->style, VALUE_WIDTH + SHARE_WIDTH);
    // Module that was named last: the row names the holder's if the holder's file is not known.
    uint32_t module = v->base.p->frames[s->frames[own]].file == 0
                          ? v->base.p->frames[s->frames[own]].module
                          : 0;

    for (uint32_t i = first; i < depth && shown < limit; i = top_holder_next(v->base.p, s, i)) {
        const struct profile_frame *f = &v->base.p->frames[s->frames[i]];
        bool known = f->function != 0;
        const char *name = text_brief_plain_name(v, s, i);

        if (!all && is_library_cxx(v, s, i, name))
            continue;
        if (style_width(text) < room)
            text_brief_note_frame(v, s, i);
        // One "…" represents several adjacent frames without names, on the way to a name.
        if (!known && unsymbolized)
            continue;
        unsymbolized = !known && shown > 0 && has_name(v, s, i, depth);
        if (!known && !unsymbolized) {
            name = text_brief_same_module(name, f->module, module);
            module = f->module;
        }
        text = arena_printf(a, "%s%s%s", text, shown++ ? ARROW : "",
                            unsymbolized ? "\xe2\x80\xa6" : name);
    }
    // The loader's own functions explain nothing.
    if (is_constructor && shown < limit)
        text = arena_printf(a, "%s%sthe loader", text, shown ? ARROW : "");
    return text;
}

/* Return true if the holder at frame OWN of S and the one at OTHER_OWN of OTHER have the same
 * caller. */
static bool
have_same_caller(const struct text_view *v, const struct stack *s, uint32_t own,
                 const struct stack *other, uint32_t other_own)
{
    const struct profile *p = v->base.p;
    uint32_t i = top_holder_next(p, s, own), k = top_holder_next(p, other, other_own);

    if (i >= s->depth || k >= other->depth)
        return i >= s->depth && k >= other->depth;
    return group_function_key(p, s->frames[i], s->locations[i]) ==
           group_function_key(p, other->frames[k], other->locations[k]);
}

/* Return the containers through which H allocates for its caller C, such as "vector::push_back and
 * map::operator[]". The largest stack's container is first, and determines whether there is any;
 * other lines of H may have others. NULL = none. */
static const char *
text_brief_containers(const struct text_view *v, const struct top_holder *h,
                      const struct top_holder_caller *c)
{
    const char *first = text_brief_container(v, c->largest, c->own), *second = NULL;
    size_t others = 0;

    for (size_t i = 0; i < h->line_count && i < CONTAINER_LINES && first != NULL; i++) {
        const struct top_holder_line *line = &h->lines[i];
        const char *name;

        if (!have_same_caller(v, c->largest, c->own, line->largest, line->own))
            continue;
        name = text_brief_container(v, line->largest, line->own);
        if (name == NULL || strcmp(name, first) == 0 ||
            (second != NULL && strcmp(name, second) == 0))
            continue;
        second = others++ == 0 ? name : second;
    }
    if (others == 0)
        return first;
    return others == 1 ? arena_printf(v->base.arena, "%s and %s", first, second)
                       : arena_printf(v->base.arena, "%s and %zu more", first, others);
}

/* Return the text on C, a caller of H: "    via vector::push_back, from load_segment ← main". */
static const char *
about_callers(const struct text_view *v, const struct top_holder *h,
              const struct top_holder_caller *c)
{
    const struct stack *s = c->largest;
    uint32_t own = c->own;
    const char *via = s->depth ? text_brief_containers(v, h, c) : NULL;
    const char *from = s->depth ? chain_of(v, s, own, false) : "";

    if (s->depth && *from == '\0')
        from = chain_of(v, s, own, true);
    if (via != NULL && *from)
        return arena_printf(v->base.arena, "    via %s, from %s", via, from);
    if (via != NULL)
        return arena_printf(v->base.arena, "    via %s", via);
    return *from ? arena_printf(v->base.arena, "    from %s", from) : "";
}

static void
put_callers(struct text_view *v, const struct top_holder *h, enum metric metric, size_t limit)
{
    struct arena *a = v->base.arena;
    int64_t whole = metric_value(&h->counters, metric);

    for (size_t i = 0; i < h->caller_count && i < limit; i++) {
        const struct top_holder_caller *c = &h->callers[i];
        int64_t value = metric_value(&c->counters, metric);
        const char *from;
        const char *number = arena_printf(a, "#%" PRIu32, c->largest->number);

        if (value <= 0 || (i > 0 && (double)value * 100 < (double)whole * CALLER_PERCENT))
            break;
        // Live blocks are mostly a part of the peak, whose rows were shown above.
        if (text_seen(v, c->largest) && metric == METRIC_INUSE)
            continue;
        style_attr(&v->style, v->out, ATTR_DIM);
        style_right(v->out, h->caller_count > 1 ? text_metric(v, &c->counters, metric) : "",
                    VALUE_WIDTH);
        style_right(v->out, number, SHARE_WIDTH);
        from = about_callers(v, h, c);
        strbuf_str(v->out,
                   style_cut_end(a, from, style_room(&v->style, VALUE_WIDTH + SHARE_WIDTH)));
        style_attr(&v->style, v->out, ATTR_PLAIN);
        strbuf_char(v->out, '\n');
    }
}

/* Displayed parts of a function's row. */
struct brief_place {
    const struct stack *stack; // Stack with the largest line.
    uint32_t own;              // Index of the frame of the largest line in that stack.
    size_t more_lines;         // Number of other lines in the row.
    const char *by; // "by" or "mostly by" the function that was called; NULL = not worth naming.
};

/* Return true if FRAME is a function that the compiler has made for static constructors of a
 * library. All libraries have functions of this name. */
static bool
is_initialiser(const struct text_view *v, uint32_t frame)
{
    static const char *const names[] = {"__static_initialization_and_destruction_", "_GLOBAL__",
                                        "__cxx_global_var_init"};
    const struct profile_frame *f = &v->base.p->frames[frame];
    const char *name = profile_string(v->base.p, f->function);

    if (f->file == 0 || f->language != 0 || profile_is_program(v->base.p, f->module))
        return false;
    for (size_t i = 0; i < countof(names); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Return the location of P in at most WIDTH columns, with the called allocating function if that is
 * in a library. If there is little room, the directory is omitted first, then words, but never the
 * number of lines. */
static const char *
about_place(const struct text_view *v, const struct brief_place *p, size_t width)
{
    struct arena *a = v->base.arena;
    const struct stack *s = p->stack;
    const struct profile_frame *f = &v->base.p->frames[s->frames[p->own]];
    const char *place =
        style_clean(a, phrase_place(v->base.p, s->frames[p->own], text_is_wide(v), a));
    const char *lines = phrase_more_lines(p->more_lines, a), *text;

    if (f->function == 0 && f->file == 0)
        place = "";
    if (is_initialiser(v, s->frames[p->own]))
        place = arena_printf(a, "%s in %s", place,
                             style_clean(a, path_basename(v->base.p->modules[f->module].path)));
    text = arena_printf(a, "%s%s", place, lines);
    if (p->own > 0 && p->by != NULL) {
        const struct profile_frame *callee = &v->base.p->frames[s->frames[p->own - 1]];
        const char *name = text_brief_plain_name(v, s, p->own - 1);

        text_brief_note_frame(v, s, p->own - 1);
        if (callee->function == 0 && *place != '\0')
            name = text_brief_same_module(name, callee->module, f->module);
        text = arena_printf(a, "%s%s%s %s", text, *text ? ", " : "", p->by, name);
    }
    if (p->more_lines == 0 || style_width(text) <= width)
        return style_cut_end(a, text, width);
    text = arena_printf(a, "%s%s", path_basename(place), lines);
    if (style_width(text) <= width)
        return text;
    lines = arena_printf(a, " +%zu", p->more_lines);
    if (style_width(lines) >= width)
        return "";
    return arena_printf(
        a, "%s%s", style_cut_start(a, path_basename(place), width - style_width(lines)), lines);
}

/* Return the function NAME without its parameter list and the text after it. */
static const char *
without_parameters(struct arena *arena, const char *name)
{
    static const char operator_call[] = "operator()";
    const char *last = strrchr(name, ')'), *open = last;
    int depth = 0;

    for (; open != NULL && open > name; open--) {
        depth += *open == ')';
        depth -= *open == '(';
        if (depth == 0)
            break;
    }
    if (open == NULL || open == name || strpbrk(last + 1, ":>}") != NULL)
        return name;
    // In "operator()" the last brackets belong to the name.
    if ((size_t)(last + 1 - name) >= sizeof operator_call - 1 &&
        strncmp(last + 2 - sizeof operator_call, operator_call, sizeof operator_call - 1) == 0)
        return name;
    return arena_strndup(arena, name, (size_t)(open - name));
}

/* Return the function at frame I of S in at most WIDTH columns: without return type and parameters,
 * and with as many template arguments as fit. */
static const char *
text_brief_short_name(const struct text_view *v, const struct stack *s, uint32_t i, size_t width)
{
    struct arena *a = v->base.arena;
    const char *name = style_clean(a, frame_name(v->base.p, s->frames[i], s->locations[i], a));

    // Names of modules and of a language may have parentheses: "prog (1)+0x1169…".
    if (v->base.p->frames[s->frames[i]].function == 0 ||
        v->base.p->frames[s->frames[i]].language != 0)
        return style_cut_end(a, name, width);
    name = symbol_without_result(a, symbol_shorten(a, name, STYLE_NO_LIMIT));
    name = without_parameters(a, name);
    return style_cut_end(a, symbol_shorten(a, name, width), width);
}

static void
text_brief_put_function(struct text_view *v, const struct brief_place *p, size_t used)
{
    size_t room = style_room(&v->style, used), width;
    const char *name, *place;

    if (p->stack->depth == 0) {
        style_text(&v->style, v->out, ATTR_BOLD, FRAME_NAME_OTHER);
        return;
    }
    text_brief_note_frame(v, p->stack, p->own);
    name = text_brief_short_name(v, p->stack, p->own, room - room / PLACE_SHARE);
    if (style_width(name) + 2 + TEXT_NAME_MIN > room) // No room for a place.
        name = text_brief_short_name(v, p->stack, p->own, room);
    style_text(&v->style, v->out, ATTR_BOLD, name);
    width = style_width(name) + 2;
    if (width + TEXT_NAME_MIN > room)
        return;
    place = about_place(v, p, room - width);
    if (*place == '\0')
        return;
    strbuf_str(v->out, "  ");
    style_text(&v->style, v->out, ATTR_DIM, place);
}

static struct brief_place
place_of_holder(const struct top_holder *h, enum metric metric)
{
    struct brief_place p = {.stack = h->largest, .own = h->own};
    int64_t value = metric_value(&h->counters, metric);

    if (h->callee_value >= value)
        p.by = "by";
    else if ((double)h->callee_value >= MOSTLY * (double)value)
        p.by = "mostly by";
    if (h->line_count > 0) {
        p.stack = h->lines[0].largest;
        p.own = h->lines[0].own;
        p.more_lines = h->line_count - 1;
    }
    return p;
}

static void
put_holder(struct text_view *v, const struct top_holder *h, enum metric metric, size_t callers)
{
    int64_t total = metric_value(&v->base.stacks->total, metric);
    const char *mark = sampling_mark(v->base.arena, &h->counters, h->errors, metric);
    const struct brief_place place = place_of_holder(h, metric);
    size_t used = NAME_COLUMN;

    style_attr(&v->style, v->out, ATTR_NUMBER);
    style_right(v->out, text_metric(v, &h->counters, metric), VALUE_WIDTH);
    style_attr(&v->style, v->out, ATTR_PLAIN);
    // If other rows shrank by more, a share of the growth would be meaningless.
    style_right(
        v->out,
        total <= 0 ? "" : style_percent(v->base.arena, metric_value(&h->counters, metric), total),
        SHARE_WIDTH);
    strbuf_str(v->out, "  ");
    if (*mark) {
        style_text(&v->style, v->out, ATTR_DIM, mark);
        strbuf_str(v->out, "  ");
        used += style_width(mark) + 2;
    }
    text_brief_put_function(v, &place, used);
    strbuf_char(v->out, '\n');
    put_callers(v, h, metric, callers);
}

static const char *
text_brief_section_title(const struct text_view *v, enum metric metric)
{
    if (metric == METRIC_INUSE)
        return phrase_live(v->base.p);
    if (metric == METRIC_TEMPORARY)
        return phrase_short_lived_title(&v->base.stacks->total);
    return metric == METRIC_PEAK ? "At the peak" : "Calls";
}

/* Return a remark on live blocks at the end of an interpreter, which are hardly ever leaks. */
static const char *
text_brief_about_exit(const struct text_view *v)
{
    const struct profile *p = v->base.p;

    if (p->language_only == 0 || p->extent != EXTENT_WHOLE || !p->process.ended)
        return "";
    return arena_printf(v->base.arena, ", which %s did not free at exit",
                        profile_string(p, p->language_only));
}

static const char *
text_brief_section_total(struct text_view *v, enum metric metric)
{
    const struct counters *c = &v->base.stacks->total;
    struct arena *a = v->base.arena;

    if (metric == METRIC_COUNT)
        return arena_printf(a, "%s, %s in all", style_count(a, c->allocations),
                            style_bytes(a, c->allocated_bytes));
    if (metric == METRIC_TEMPORARY)
        return arena_printf(a, "%s %s", text_metric(v, c, metric), phrase_short_lived(c));
    return arena_printf(
        a, "%s in %s%s", text_metric(v, c, metric),
        style_plural(a, metric == METRIC_PEAK ? c->peak_blocks : counters_live_blocks(c), "block"),
        metric == METRIC_INUSE ? text_brief_about_exit(v) : "");
}

/* Write a line for COUNT functions without a row, with their total VALUE. */
static void
text_brief_put_rest(struct text_view *v, enum metric metric, int64_t value, size_t count,
                    const char *what)
{
    int64_t total = metric_value(&v->base.stacks->total, metric);
    struct arena *a = v->base.arena;

    if (count == 0)
        return;
    style_attr(&v->style, v->out, ATTR_DIM);
    style_right(v->out, metric_is_bytes(metric) ? style_bytes(a, value) : style_count(a, value),
                VALUE_WIDTH);
    style_right(v->out, total > 0 && value >= 0 ? style_percent(a, value, total) : "", SHARE_WIDTH);
    strbuf_fmt(v->out, "  in %s", style_plural(a, (int64_t)count, what));
    if (value < 0)
        strbuf_str(v->out, " that shrank");
    style_attr(&v->style, v->out, ATTR_PLAIN);
    strbuf_char(v->out, '\n');
}

/* A section on METRIC. It may be written several times. */
struct brief_section {
    enum metric metric;
    struct top_holders holders;
    struct tree_split split;
    bool split_is_known;
};

/* Return B in at most ROOM columns: "below Server::handle". */
static const char *
text_brief_branch(const struct text_view *v, const struct tree_branch *b, size_t room)
{
    struct arena *a = v->base.arena;
    const struct profile *p = v->base.p;
    uint32_t frame = b->constructors ? 0 : b->stack->frames[b->frame];
    const struct profile_frame *f = &p->frames[frame];
    const char *name, *file = "";

    if (b->constructors && b->module == 0)
        return "in static constructors";
    if (b->constructors)
        return style_cut_end(a,
                             arena_printf(a, "in static constructors, mostly of %s",
                                          style_clean(a, path_basename(
                                                             p->modules[b->module].path))),
                             room);
    // Native functions are found by their name, but "<module>" is in each file of Python. The line
    // differs among the stacks.
    if (f->language != 0 && f->file != 0)
        file = style_clean(a, phrase_file(p, frame, text_is_wide(v)));
    room -= sizeof "below" < room ? sizeof "below" : room;
    name = text_brief_short_name(v, b->stack, b->frame, room);
    if (*file != '\0' && style_width(name) + 2 + TEXT_NAME_MIN <= room)
        return arena_printf(a, "below %s  %s", name,
                            style_cut_start(a, file, room - style_width(name) - 2));
    return arena_printf(a, "below %s", name);
}

/* Write the branch B of METRIC. */
static void
text_brief_put_branch(struct text_view *v, const struct tree_branch *b, enum metric metric)
{
    int64_t total = metric_value(&v->base.stacks->total, metric);
    struct arena *a = v->base.arena;
    const char *value =
        metric_is_bytes(metric) ? style_bytes(a, b->value) : style_count(a, b->value);
    size_t indent = BRANCH_INDENT * (b->level + 1);

    style_attr(&v->style, v->out, ATTR_DIM);
    style_right(v->out, value, VALUE_WIDTH);
    style_right(v->out, style_percent(a, b->value, total), SHARE_WIDTH);
    strbuf_fmt(v->out, "%*s%s", (int)(2 + indent), "",
               text_brief_branch(v, b, style_room(&v->style, NAME_COLUMN + indent)));
    style_attr(&v->style, v->out, ATTR_PLAIN);
    strbuf_char(v->out, '\n');
}

/* Return true if branch I of SPLIT is among the COUNT largest. A branch is never larger than the
 * one that contains it, which is in front of it. */
static bool
text_brief_is_large_branch(const struct tree_split *split, size_t i, size_t count)
{
    size_t larger = 0;

    for (size_t k = 0; k < split->count; k++)
        larger += split->v[k].value > split->v[i].value ||
                  (split->v[k].value == split->v[i].value && k < i);
    return larger < count;
}

/* Write the functions among which S's metric divides, at most COUNT, if most of it, REST, is in
 * functions without a row. */
static void
text_brief_put_split(struct text_view *v, struct brief_section *s, int64_t rest, size_t count)
{
    int64_t total = metric_value(&v->base.stacks->total, s->metric);

    if (count == 0 || (double)rest < MOSTLY * (double)total)
        return;
    if (!s->split_is_known)
        tree_split_find(v->base.p, v->base.stacks, s->metric, v->base.arena, &s->split);
    s->split_is_known = true;
    for (size_t i = 0; i < s->split.count; i++)
        if (text_brief_is_large_branch(&s->split, i, count))
            text_brief_put_branch(v, &s->split.v[i], s->metric);
}

/* Contents of a section: at most ROWS rows, each with at most CALLERS callers, and at most BRANCHES
 * branches of the tree. */
struct brief_plan {
    size_t rows, callers, branches;
    bool first; // The first section keeps some branches.
};

static void
text_brief_put_rows(struct text_view *v, struct brief_section *s, struct brief_plan plan)
{
    const struct top_holders *holders = &s->holders;
    enum metric metric = s->metric;
    int64_t total = metric_value(&v->base.stacks->total, metric), rest = 0, shrunk = 0;
    size_t shown = 0, more = 0, less = 0;

    text_title(v, text_brief_section_title(v, metric), text_brief_section_total(v, metric));
    for (size_t i = 0; i < holders->count; i++) {
        int64_t value = metric_value(&holders->v[i].counters, metric);
        bool large = i == 0 || (double)value * 100 >= (double)total * ROW_PERCENT;

        if (value > 0 && shown == i && shown < plan.rows && large) {
            put_holder(v, &holders->v[i], metric, plan.callers);
            shown++;
        } else if (value > 0) {
            rest = counters_sum(rest, value);
            more++;
        } else if (value < 0) {
            shrunk = counters_sum(shrunk, value);
            less++;
        }
    }
    text_brief_put_rest(v, metric, rest, more, "more function");
    text_brief_put_rest(v, metric, shrunk, less, "function");
    text_brief_put_split(v, s, rest, plan.branches);
}

/* Return the next smaller plan after PLAN: one caller, no branches, fewer rows, no callers, two
 * rows, fewer branches of the first section, one row. */
static struct brief_plan
text_brief_smaller(struct brief_plan plan)
{
    if (plan.callers > 1)
        plan.callers = 1;
    else if (plan.branches > 0 && !plan.first)
        plan.branches = 0;
    else if (plan.rows > FEWER_ROWS)
        plan.rows--;
    else if (plan.callers > 0 && plan.rows > 1)
        plan.callers = 0;
    else if (plan.rows > FEWEST_ROWS)
        plan.rows--;
    else if (plan.branches > FEWEST_BRANCHES)
        plan.branches--;
    else if (plan.rows > 1)
        plan.rows--;
    else
        plan.callers = 0;
    return plan;
}

static size_t
text_brief_lines(const struct strbuf *text, size_t from)
{
    size_t lines = 0;

    for (size_t i = from; i < text->length; i++)
        lines += text->text[i] == '\n';
    return lines;
}

/* Write S by PLAN, or by a smaller plan, so that it has at most LINES lines. Return the number of
 * lines it has. */
static size_t
text_brief_fit(struct text_view *v, struct brief_section *s, struct brief_plan plan, size_t lines)
{
    const size_t before = v->out->length, seen = v->seen_count;

    text_brief_put_rows(v, s, plan);
    while (text_brief_lines(v->out, before) > lines &&
           (plan.rows > 1 || plan.callers > 0 || plan.branches > FEWEST_BRANCHES)) {
        plan = text_brief_smaller(plan);
        strbuf_cut(v->out, before);
        v->seen_count = seen;
        text_brief_put_rows(v, s, plan);
    }
    return text_brief_lines(v->out, before);
}

/* Store the metrics that deserve a section, at most two. Return their number. */
static size_t
choose_metrics(const struct text_view *v, enum metric *ret)
{
    const struct counters *c = &v->base.stacks->total;
    double live = (double)counters_live_bytes(c);
    double few = v->base.p->language_only != 0 ? 1 : NOT_LITTLE * (double)c->peak_bytes;
    size_t n = 0;

    if (v->base.p->extent != EXTENT_WHOLE) {
        ret[n++] = METRIC_INUSE;
        if (v->base.p->extent == EXTENT_BETWEEN)
            ret[n++] = METRIC_COUNT;
        return n;
    }
    ret[n++] = metric_first(v->base.p, c);
    if (ret[0] == METRIC_PEAK && live >= few)
        ret[n++] = METRIC_INUSE;
    return n;
}

/* Return true if a section on churn is significant. *RET is its metric. */
static bool
choose_churn(const struct text_view *v, enum metric *ret)
{
    const struct counters *c = &v->base.stacks->total;
    double calls = (double)c->allocations;
    bool mostly =
        !c->lifetimes_unknown && (double)metric_value(c, METRIC_TEMPORARY) >= MOSTLY * calls;
    bool often = (double)c->allocated_bytes >= TURNOVER_OFTEN * (double)c->peak_bytes;

    *ret = mostly ? METRIC_TEMPORARY : METRIC_COUNT;
    return v->base.p->extent == EXTENT_WHOLE && calls >= CALLS_OFTEN && (mostly || often);
}

static void
text_brief_put_growth(struct text_view *v)
{
    const struct timeline_options options = {.by = TIMELINE_LIVE, .limit = GROWING_ROWS};
    const struct profile *p = v->base.p;
    struct user_code code;
    struct timeline t;
    bool title = false;

    if (p->extent != EXTENT_WHOLE || !timeline_can_show_growth(p))
        return;
    timeline_build(p, v->base.stacks, &options, v->base.arena, &t);
    user_code_init(&code, p, v->base.arena);
    for (size_t i = 0; i < t.row_count; i++) {
        const struct stack *s = t.rows[i].stack;
        const char *end = timeline_is_freed(&t.rows[i]) ? ", freed at the end" : "";

        if (!timeline_is_notable(p, &t.rows[i]))
            continue;
        if (!title)
            text_title(v, "Growing to the end", "");
        title = true;
        style_attr(&v->style, v->out, ATTR_WARNING);
        style_right(v->out,
                    arena_printf(v->base.arena, "+%s/min",
                                 style_bytes(v->base.arena, (int64_t)t.rows[i].per_minute)),
                    VALUE_WIDTH + 3);
        style_attr(&v->style, v->out, ATTR_PLAIN);
        style_attr(&v->style, v->out, ATTR_DIM);
        style_right(v->out, arena_printf(v->base.arena, "#%" PRIu32, s->number), SHARE_WIDTH - 3);
        style_attr(&v->style, v->out, ATTR_PLAIN);
        strbuf_str(v->out, "  ");
        text_brief_put_function(v,
                                &(struct brief_place){.stack = s,
                                                .own = user_code_frame(&code, s),
                                                .by = "by"},
                                NAME_COLUMN + style_width(end));
        strbuf_fmt(v->out, "%s\n", end);
    }
}

/* Suggest commands for other questions that this profile can answer. */
static void
put_hints(struct text_view *v)
{
    const struct profile *p = v->base.p;
    const bool leaks = counters_live_blocks(&v->base.stacks->total) > 0;
    const bool crashed = p->process.end_kind == END_KILLED && phrase_is_crash(p->process.end_value);
    const char *more = "";
    const char *others = arena_printf(v->base.arena, "%s%s%s", crashed ? "; core CORE" : "",
                                      leaks ? "; leaks" : "", p->has_history ? "; timeline" : "");

    for (size_t i = 1; i < p->heap_count && *more == '\0'; i++)
        if (p->heaps[i].made > 0)
            more = "|heap";
    if (tags_has_labels(p))
        more = arena_printf(v->base.arena, "%s|label", more);
    strbuf_char(v->out, '\n');
    text_prose(v, ATTR_DIM,
               arena_printf(v->base.arena,
                            "More: report --full, --site N, --by function|type%s%s", more,
                            others));
}

/* Return true if a section on METRIC with HOLDERS is worth its lines. Beside other sections, churn
 * is if its first row has much of it. */
static bool
text_brief_is_useful(const struct text_view *v, const struct top_holders *holders,
                     enum metric metric, bool is_churn)
{
    int64_t most = holders->count > 0 ? metric_value(&holders->v[0].counters, metric) : 0;

    return most > 0 && (!is_churn || v->base.limit != 0 ||
                        (double)most >=
                            CHURN_ROW * (double)metric_value(&v->base.stacks->total, metric));
}

/* Write the COUNT sections of METRICS, at most LINES lines in all. The last is on churn if IS_CHURN
 * is true. The first has the lines that the others do not need. */
static void
text_brief_put_sections(struct text_view *v, const enum metric *metrics, size_t count,
                        bool is_churn, size_t lines)
{
    static const struct brief_plan plans[] = {
        {FIRST_ROWS, FIRST_CALLERS, TREE_SPLIT_MAX, true},
        {SECOND_ROWS, 1, SECOND_BRANCHES, false},
        {THIRD_ROWS, 1, SECOND_BRANCHES, false}};
    static const size_t least[] = {SECTION_LINES, SECOND_LINES, SECTION_LINES};
    struct brief_section sections[countof(plans)] = {0};
    size_t used = 0, useful = 0;

    for (size_t i = 0; i < count; i++) {
        struct brief_section *s = &sections[useful];

        *s = (struct brief_section){.metric = metrics[i]};
        top_holders_build(v->base.p, v->base.stacks, metrics[i], v->base.arena, &s->holders);
        useful += text_brief_is_useful(v, &s->holders, metrics[i], is_churn && i + 1 == count);
    }
    for (size_t i = 0; i < useful; i++) {
        struct brief_plan plan = plans[i];
        size_t others = 0;

        for (size_t k = i + 1; k < useful; k++)
            others += least[k];
        if (v->base.limit != 0) {
            plan.rows = v->base.limit;
            text_brief_fit(v, &sections[i], plan, SIZE_MAX);
        } else if (i == 0 || lines >= used + SECTION_LINES) {
            used += text_brief_fit(v, &sections[i], plan,
                                   lines > used + others ? lines - used - others : 0);
        }
    }
}

/* Return false if the only own heap is the interpreter's, which holds objects of all functions. */
static bool
has_notable_heaps(const struct text_view *v)
{
    const struct profile *p = v->base.p;
    size_t others = 0;

    for (size_t i = 1; i < p->heap_count; i++)
        others += p->heaps[i].made > 0;
    return p->language_only == 0 || others > 1;
}

void
text_brief(struct text_view *v)
{
    struct strbuf *out = v->out, tail = {0};
    enum metric metrics[3];
    size_t count = choose_metrics(v, metrics), start = out->length, before, used;
    bool is_churn;

    v->nameless = arena_array(v->base.arena, v->base.p->module_count, sizeof *v->nameless);
    text_header(v);
    text_losses(v, loss_field_count);
    text_corruptions(v);
    before = out->length;
    if (has_notable_heaps(v)) {
        text_heaps(v, SECOND_ROWS);
        text_backings(v, SECOND_ROWS);
    }
    text_labels(v, SECOND_ROWS);
    // The table of heaps comes first, so only one metric fits on the screen. For interpreters, live
    // blocks are shown nevertheless.
    if (out->length > before && v->base.p->language_only == 0)
        count = 1;
    v->out = &tail;
    text_brief_put_growth(v);
    // Growth matters more than churn, and there is no room for both.
    is_churn = tail.length == 0 && choose_churn(v, &metrics[count]);
    put_hints(v);
    v->out = out;
    // All functions of a language have names.
    used = text_brief_lines(out, start) + text_brief_lines(&tail, 0) +
           (v->base.p->language_only != 0 ? 0 : HINT_LINES);
    text_brief_put_sections(v, metrics, count + is_churn, is_churn,
                            used < SCREEN_LINES ? SCREEN_LINES - used : 0);
    strbuf_str(out, strbuf_text(&tail));
    strbuf_release(&tail);
}
