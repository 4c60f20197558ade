/* text_callgraph.c: the call graph as text, an entry for each function.
 *
 *     index  allocated      %  sizes           called  function
 *
 *               999.9K   50.2  mmmm       5,019/5,019    make_red_widget [2]     callers
 *               992.3K   49.8  mmmm       4,981/4,981    make_blue_widget [3]
 *     [1]         1.9M  100.0  mmmmmmmm        10,000  make_widget
 *                 1.9M  100.0  mmmmmmmm                  (itself)
 *
 * Callers are above the function, callees below. The percentage and the bar of the function's line
 * refer to the total, the others to the function. A cycle lists its functions in place of callees.
 * Estimates add a column "error" after the first one.
 * Where names have too little room, bars are shortened first; then the column "called" is left out.
 *
 * Lines are collected before they are written, to determine the widths of columns. */
#include "text/text.h"

#include <inttypes.h>
#include <string.h>

#include "text/text_view.h"
#include "view/phrases.h"

enum { BAR = 8, ARC_INDENT = 2, INDEX_WIDTH = 7, NODE_NAME_MIN = 8, NAME_AND_INDEX = 18 };

struct line {
    const char *index;                          // "[1]"; NULL = a caller or callee.
    const char *bytes, *percent, *called;       // "" = unknown.
    const char *error;                          // "" = exact.
    // Amount that the bar shows, relative to `whole`; NULL = no bar.
    const struct amount *amount;
    int64_t whole;
    uint32_t node;                              // CALLGRAPH_NONE: `name` is the text.
    const char *name;
};

struct lines {
    struct text_view *v;
    const struct graph_view *gv;
    struct line *items;
    size_t count, capacity;
};

const char *
text_node(const struct text_view *v, const struct callgraph *g, uint32_t node, size_t width)
{
    const struct callgraph_node *n = &g->nodes[node];
    const char *mark = "";
    size_t room;

    if (n->number)
        return arena_printf(v->base.arena, "<cycle %" PRIu32 " as a whole>", n->number);
    if (n->cycle != CALLGRAPH_NONE)
        mark = arena_printf(v->base.arena, " <cycle %" PRIu32 ">", g->nodes[n->cycle].number);
    room = width > strlen(mark) ? width - strlen(mark) : 0;
    return arena_printf(
        v->base.arena, "%s%s",
        text_function(v, g->functions, node, room < NODE_NAME_MIN ? NODE_NAME_MIN : room), mark);
}

static void
text_callgraph_add_line(struct lines *l, const struct line *line)
{
    arena_grow(l->v->base.arena, &l->items, &l->capacity, l->count, sizeof *l->items);
    l->items[l->count++] = *line;
}

static const char *
text_callgraph_percent(struct arena *a, int64_t part, int64_t whole)
{
    return arena_printf(a, "%.1f", whole > 0 ? 100.0 * (double)part / (double)whole : 0.0);
}

/* Return a line with AMOUNT, which has the errors E, relative to WHOLE. */
static struct line
amount_line(const struct lines *l, const struct amount *amount, const struct errors *e,
            const struct amount *whole, const char *called, uint32_t node, const char *name)
{
    struct arena *a = l->v->base.arena;
    struct counters c = amount_counters(amount, l->gv->metric);

    return (struct line){
        .bytes = text_short(a, amount_sum(amount), l->gv->metric),
        .error = sampling_mark(a, &c, e, l->gv->metric),
        .percent = text_callgraph_percent(a, amount_sum(amount), amount_sum(whole)),
        .amount = amount,
        .whole = amount_sum(whole),
        .called = called,
        .node = node,
        .name = name,
    };
}

static const char *
ratio(struct arena *a, int64_t part, int64_t whole)
{
    return arena_printf(a, "%s/%s", style_count(a, part), style_count(a, whole));
}

/* Return the number of calls and of recursive calls: "12+3". */
static const char *
called_text(struct arena *a, const struct callgraph_node *n)
{
    if (n->recursive == 0)
        return style_count(a, n->called.calls);
    return arena_printf(a, "%s+%s", style_count(a, n->called.calls), style_count(a, n->recursive));
}

static void
add_rest(struct lines *l, size_t shown, size_t count, const char *noun)
{
    struct arena *a = l->v->base.arena;

    if (shown < count)
        text_callgraph_add_line(l, &(struct line){
                        .bytes = "",
                        .error = "",
                        .percent = "",
                        .called = "",
                        .node = CALLGRAPH_NONE,
                        .name = arena_printf(a, "\xe2\x80\xa6 %s",
                                             style_plural(a, (int64_t)(count - shown),
                                                          arena_printf(a, "more %s", noun))),
                                   });
}

static void
add_callers(struct lines *l, const struct callgraph_node *n)
{
    const struct callgraph *g = l->gv->g;

    for (uint32_t i = 0; i < n->caller_count && i < l->gv->arcs; i++) {
        const struct callgraph_arc *a = &g->arcs[g->callers[n->first_caller + i]];
        struct line line =
            amount_line(l, &a->amount, a->errors, &n->inclusive,
                        ratio(l->v->base.arena, a->amount.calls, g->nodes[a->caller].calls_out),
                        a->caller, NULL);

        text_callgraph_add_line(l, &line);
    }
    add_rest(l, l->gv->arcs, n->caller_count, "caller");
}

static void
add_callees(struct lines *l, const struct callgraph_node *n)
{
    const struct callgraph *g = l->gv->g;

    for (uint32_t i = 0; i < n->callee_count && i < l->gv->arcs; i++) {
        const struct callgraph_arc *a = &g->arcs[g->callees[n->first_callee + i]];
        struct line line =
            amount_line(l, &a->amount, a->errors, &n->inclusive,
                        ratio(l->v->base.arena, a->amount.calls, g->nodes[a->callee].calls_in),
                        a->callee, NULL);

        text_callgraph_add_line(l, &line);
    }
    add_rest(l, l->gv->arcs, n->callee_count, "callee");
}

static void
text_callgraph_add_members(struct lines *l, uint32_t cycle)
{
    const struct callgraph *g = l->gv->g;
    size_t count = 0;

    for (size_t i = 0; i < g->entry_count; i++) {
        const struct callgraph_node *n = &g->nodes[g->entries[i]];
        struct line line;

        if (n->cycle != cycle || count++ >= l->gv->arcs)
            continue;
        line = amount_line(l, &n->inclusive, n->inclusive_errors, &g->nodes[cycle].inclusive,
                           called_text(l->v->base.arena, n), g->entries[i], NULL);
        text_callgraph_add_line(l, &line);
    }
    add_rest(l, l->gv->arcs, count, "function");
}

static void
text_callgraph_add_entry(struct lines *l, uint32_t node)
{
    const struct callgraph_node *n = &l->gv->g->nodes[node];
    struct arena *a = l->v->base.arena;
    struct line line =
        amount_line(l, &n->inclusive, n->inclusive_errors, &l->gv->g->total, called_text(a, n),
                    node, NULL);

    add_callers(l, n);
    line.index = arena_printf(a, "[%" PRIu32 "]", n->index);
    text_callgraph_add_line(l, &line);
    if (amount_sum(&n->self) != 0) {
        line = amount_line(l, &n->self, n->self_errors, &n->inclusive, "", CALLGRAPH_NONE,
                           "(itself)");
        text_callgraph_add_line(l, &line);
    }
    if (n->number)
        text_callgraph_add_members(l, node);
    else
        add_callees(l, n);
}

struct line_widths {
    size_t bytes, bar;
    size_t error, called; // 0 = no column.
};

static size_t
before_name(const struct line_widths *w, size_t indent)
{
    return INDEX_WIDTH + w->bytes + (w->error > 0 ? 2 + w->error : 0) + 7 + 2 + w->bar +
           (w->called > 0 ? 2 + w->called : 0) + indent + 2;
}

/* Shorten the bar until a name fits into WIDTH. Return false if even no bar leaves no room. */
static bool
fit_bar(struct line_widths *w, size_t width)
{
    for (w->bar = BAR; before_name(w, ARC_INDENT) + NAME_AND_INDEX > width; w->bar--)
        if (w->bar == 0)
            return false;
    return true;
}

static struct line_widths
text_callgraph_measure(const struct lines *l)
{
    struct line_widths w = {.bytes = strlen(phrase_metric_column(l->v->base.p, l->gv->metric)),
                            .called = strlen("called")};

    for (size_t i = 0; i < l->count; i++) {
        size_t bytes = style_width(l->items[i].bytes), called = style_width(l->items[i].called);
        size_t error = style_width(l->items[i].error);

        w.bytes = bytes > w.bytes ? bytes : w.bytes;
        w.called = called > w.called ? called : w.called;
        w.error = error > w.error ? error : w.error;
    }
    if (w.error > 0 && w.error < strlen("error"))
        w.error = strlen("error");
    if (!fit_bar(&w, l->v->style.width)) {
        w.called = 0;
        fit_bar(&w, l->v->style.width);
    }
    return w;
}

/* Write ERROR in its column, if there is one. */
static void
text_callgraph_put_error(struct text_view *v, const char *error, const struct line_widths *w)
{
    if (w->error == 0)
        return;
    strbuf_str(v->out, "  ");
    style_left(v->out, error, w->error);
}

static void
text_callgraph_put_line(const struct lines *l, const struct line *line, const struct line_widths *w)
{
    struct text_view *v = l->v;
    size_t indent = line->index ? 0 : ARC_INDENT;
    size_t room = style_room(&v->style, before_name(w, indent));
    const char *name = line->name;

    if (line->node != CALLGRAPH_NONE) {
        const char *index = line->index ? ""
                                        : arena_printf(v->base.arena, " [%" PRIu32 "]",
                                                       l->gv->g->nodes[line->node].index);
        size_t left = room > strlen(index) ? room - strlen(index) : 0;

        name = arena_printf(v->base.arena, "%s%s", text_node(v, l->gv->g, line->node, left), index);
    }
    style_attr(&v->style, v->out, line->index ? ATTR_BOLD : ATTR_DIM);
    style_left(v->out, line->index ? line->index : "", INDEX_WIDTH);
    style_right(v->out, line->bytes, w->bytes);
    text_callgraph_put_error(v, line->error, w);
    style_right(v->out, line->percent, 7);
    strbuf_str(v->out, "  ");
    style_left(v->out,
               line->amount ? text_classes(l->gv->g->functions, v->base.arena, line->amount,
                                            line->whole, w->bar)
                             : "",
               w->bar);
    if (w->called > 0) {
        strbuf_str(v->out, "  ");
        style_right(v->out, line->called, w->called);
    }
    style_attr(&v->style, v->out, ATTR_PLAIN);
    style_left(v->out, "", indent + 2);
    style_text(&v->style, v->out, line->index ? ATTR_BOLD : ATTR_PLAIN,
               style_cut_end(v->base.arena, name, room));
    strbuf_char(v->out, '\n');
}

static void
text_callgraph_put_titles(const struct lines *l, const struct line_widths *w)
{
    struct text_view *v = l->v;
    const char *classes = l->gv->g->functions->heap_classes != NULL ? "  types" : "  sizes";

    style_attr(&v->style, v->out, ATTR_DIM);
    style_left(v->out, "index", INDEX_WIDTH);
    style_right(v->out, phrase_metric_column(l->v->base.p, l->gv->metric), w->bytes);
    text_callgraph_put_error(v, "error", w);
    style_right(v->out, "%", 7);
    style_left(v->out, w->bar >= strlen("sizes") ? classes : "", w->bar + 2);
    if (w->called > 0) {
        strbuf_str(v->out, "  ");
        style_right(v->out, "called", w->called);
    }
    strbuf_str(v->out, "  function");
    style_attr(&v->style, v->out, ATTR_PLAIN);
    strbuf_char(v->out, '\n');
}

void
text_callgraph(struct text_view *v, const struct graph_view *gv)
{
    struct lines l = {.v = v, .gv = gv};
    size_t *ends = arena_array(v->base.arena, gv->count, sizeof *ends), line = 0;
    struct line_widths w;

    for (size_t i = 0; i < gv->count; i++) {
        text_callgraph_add_entry(&l, gv->nodes[i]);
        ends[i] = l.count;
    }
    w = text_callgraph_measure(&l);
    text_callgraph_put_titles(&l, &w);
    for (size_t i = 0; i < gv->count; i++) {
        strbuf_char(v->out, '\n');
        for (; line < ends[i]; line++)
            text_callgraph_put_line(&l, &l.items[line], &w);
    }
    strbuf_char(v->out, '\n');
}
