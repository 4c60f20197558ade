/* timeline_flame.c: draw a flame chart of memory: the paths that held it, over time.
 *
 * In a flame chart of time, a box is a call: it begins, calls others below it, and ends. Memory has
 * no single stack at a time, because many stacks hold memory at once. So here a box is a call path,
 * drawn for as long as memory allocated through it was live. Boxes of its callees lie inside it,
 * one below the other, growing ones first, then the largest:
 *
 *     ┌ main ────────────────────────────────────────────┐
 *     │┌ serve ──────────────────────────────────────────│
 *     ││┌ cache_put ▁▁▂▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇▇───────────────── │   grows
 *     │┌ load ──────────┐                                │   freed when loading was done
 *     ││  parse ──────┐ │                                │
 *     │└────────────────┘                                │
 *
 * The strip of a box contains a curve of its live bytes: the most at a snapshot in each column of
 * time. Each curve has its own scale, which begins
 * at the lowest value if the path grows, otherwise at 0. The number at the right allows comparison
 * with other boxes. A path that held nothing for a while has a box for each time it held memory. A
 * chain of single callees is one box; otherwise interpreters would fill the picture with their
 * chains. Paths that never held MIN_SHARE of the largest total are left out, unless they grow. So
 * are the smallest paths until the others fit. The foot line counts the omitted paths. */
#include "svg/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "analyse/group.h"
#include "export/exporter.h"
#include "svg/time_frame.h"
#include "util/amount.h"

#define INDENT_PIXELS 9.0

enum {
    ROW = 19,
    BOXES_MAX = 70,
    FOOT = 76,
    FOOT_ROW = 18,
    AMOUNT_WIDTH = 96,
    INSET = 1,
};

#define MIN_SHARE 0.005
#define GROWING_SHARE 0.05 // Growing paths need only this fraction of the limit.
#define SAME_SHARE 0.9     // A single callee with at least this fraction shares its caller's box.
#define LEAST_STEP 1.25    // Factor for raising the limit until the remaining paths fit.
#define CHAR_PIXELS 6.7
#define INSIDE "\xe2\x80\xba"

struct node {
    uint32_t parent;
    const struct stack *stack; // One of the stacks through this node.
    uint32_t frame;            // Index of the node's frame in `stack`, or depth for its root.
    int64_t rough[TREND_POINTS];
    int64_t max;
    bool grows;
    bool kept;
    // For a kept path: the node in whose box this node's box lies. If the node shares a box with
    // its caller, the node of that box.
    uint32_t box;
    // Boxes only:
    uint32_t last;   // Innermost node in this box.
    uint32_t length; // Number of nodes in this box.
    uint32_t depth;
    struct timeline_row row; // Its values by point.
    double *columns;
    uint32_t first_child, next_sibling;
    uint32_t rows; // Number of rows, including boxes inside.
};

struct flame {
    struct time_frame f;
    const struct stacks *stacks;
    struct node *nodes; // The root first, parents before their children.
    size_t count, capacity, shown;
    uint32_t *leaf_of; // By stack.
};

static uint32_t
timeline_flame_child_of(struct flame *c, struct map *known, uint32_t parent, const struct stack *s,
                        uint32_t frame)
{
    uint64_t key =
        frame < s->depth ? group_function_key(c->f.p, s->frames[frame], s->locations[frame])
        : s->depth == 0  ? 0
                         : UINT64_MAX - (s->flags & NODE_CALLERLESS); // Keys that no function has.
    bool is_new;
    uint64_t *node = map_put(known, key * 0x9e3779b97f4a7c15u ^ parent, &is_new);

    if (!is_new)
        return (uint32_t)*node;
    *node = c->count;
    arena_grow(c->f.arena, &c->nodes, &c->capacity, c->count, sizeof *c->nodes);
    c->nodes[c->count] = (struct node){.parent = parent, .stack = s, .frame = frame};
    return (uint32_t)c->count++;
}

static void
timeline_flame_build_tree(struct flame *c)
{
    struct map known = {0};

    c->leaf_of = arena_array(c->f.arena, c->stacks->count, sizeof *c->leaf_of);
    arena_grow(c->f.arena, &c->nodes, &c->capacity, 0, sizeof *c->nodes);
    c->nodes[c->count++] = (struct node){.kept = true};
    for (size_t i = 0; i < c->stacks->count; i++) {
        const struct stack *s = &c->stacks->v[i];
        uint32_t node = 0;

        if (stack_root(c->f.p, s) != NULL)
            node = timeline_flame_child_of(c, &known, node, s, s->depth);
        for (uint32_t k = stack_useful_depth(c->f.p, s); k-- > 0 && s->depth > 0;)
            node = timeline_flame_child_of(c, &known, node, s, k);
        c->leaf_of[i] = node;
    }
    map_release(&known);
}

/* Sum the live bytes of every path at the TREND_POINTS moments. */
static void
sum_rough(struct flame *c)
{
    const struct timeline *t = c->f.t;

    for (size_t i = 0; i < t->stack_count; i++) {
        uint32_t leaf = c->leaf_of[t->rows[i].stack - c->stacks->v];

        for (size_t k = 0; k < TREND_POINTS; k++)
            c->nodes[leaf].rough[k] = counters_sum(c->nodes[leaf].rough[k], t->rows[i].rough[k]);
    }
    for (size_t i = c->count; i-- > 1;)
        for (size_t k = 0; k < TREND_POINTS; k++) {
            int64_t *sum = &c->nodes[c->nodes[i].parent].rough[k];

            *sum = counters_sum(*sum, c->nodes[i].rough[k]);
        }
}

/* Find the largest value of every path at any point. */
static void
timeline_flame_find_maxima(struct flame *c)
{
    const struct timeline *t = c->f.t;
    const struct profile_change *changes = c->f.p->changes;
    size_t *ends = arena_array(c->f.arena, t->point_count + 1, sizeof *ends);
    uint32_t *order = timeline_sort_changes(c->f.p, t, c->f.arena, ends);
    int64_t *now = arena_array(c->f.arena, c->count, sizeof *now);

    for (size_t k = 0, i = 0; k < t->point_count; k++) {
        size_t begin = i;

        for (; i < ends[k]; i++) {
            size_t stack = timeline_stack_of(c->f.p, c->stacks, &changes[order[i]]);
            int64_t amount = timeline_amount(&changes[order[i]].amounts, t->by);

            for (uint32_t n = stack == SIZE_MAX ? 0 : c->leaf_of[stack]; n != 0;
                 n = c->nodes[n].parent)
                now[n] = counters_sum(now[n], amount);
        }
        for (size_t m = begin; m < i; m++) {
            size_t stack = timeline_stack_of(c->f.p, c->stacks, &changes[order[m]]);

            for (uint32_t n = stack == SIZE_MAX ? 0 : c->leaf_of[stack]; n != 0;
                 n = c->nodes[n].parent)
                c->nodes[n].max = now[n] > c->nodes[n].max ? now[n] : c->nodes[n].max;
        }
    }
    c->nodes[0].max = t->total.max;
}

static bool
grows(const struct flame *c, const struct node *n)
{
    struct timeline_row row = {0};

    memcpy(row.rough, n->rough, sizeof row.rough);
    timeline_find_trend(c->f.t, &row);
    return row.trend == TREND_GROWS;
}

static bool
is_box(const struct flame *c, uint32_t i)
{
    return c->nodes[i].kept && c->nodes[i].box == i;
}

/* Keep the paths whose live bytes reached LEAST, and smaller paths that grow. A path's only kept
 * callee shares its box if it holds nearly as much. Returns the resulting number of boxes. */
static size_t
keep_nodes(struct flame *c, double least, uint32_t *callees)
{
    size_t boxes = 0;

    memset(callees, 0, c->count * sizeof *callees);
    for (size_t i = 1; i < c->count; i++) {
        struct node *n = &c->nodes[i];

        n->kept = c->nodes[n->parent].kept && n->max > 0 &&
                  (double)n->max >= (n->grows ? least * GROWING_SHARE : least);
        callees[n->parent] += n->kept;
    }
    for (uint32_t i = 1; i < c->count; i++) {
        struct node *n = &c->nodes[i];
        const struct node *parent = &c->nodes[n->parent];

        if (!n->kept)
            continue;
        n->box = i;
        if (n->parent != 0 && callees[n->parent] == 1 && n->grows == parent->grows &&
            (double)n->max >= SAME_SHARE * (double)parent->max)
            n->box = parent->box;
        boxes += n->box == i;
    }
    return boxes;
}

static void
choose_nodes(struct flame *c)
{
    uint32_t *callees = arena_array(c->f.arena, c->count, sizeof *callees);
    double least;
    // The root's value does not suffice: growths may sum to 0 while parts grow.
    int64_t largest = 0;

    for (size_t i = 0; i < c->count; i++)
        largest = c->nodes[i].max > largest ? c->nodes[i].max : largest;
    least = MIN_SHARE * (double)largest;
    for (size_t i = 0; i < c->count; i++)
        c->nodes[i].grows =
            (double)c->nodes[i].max >= least * GROWING_SHARE && grows(c, &c->nodes[i]);
    while (keep_nodes(c, least, callees) > BOXES_MAX)
        least *= LEAST_STEP;
    for (uint32_t i = 0; i < c->count; i++) {
        struct node *n = &c->nodes[i];

        if (!n->kept)
            continue;
        c->shown++;
        c->nodes[n->box].last = i;
        c->nodes[n->box].length++;
    }
}

/* Add AMOUNT at POINT to NODE and all its callers. */
static void
timeline_flame_add_change(struct flame *c, uint32_t node, size_t point, int64_t amount)
{
    for (;; node = c->nodes[node].parent) {
        int64_t *values = c->nodes[node].row.values;

        if (values != NULL)
            values[point] = counters_sum(values[point], amount);
        if (node == 0)
            return;
    }
}

/* Turn the changes of box N at each point into values, and these into columns. */
static void
finish_columns(struct flame *c, struct node *n)
{
    n->columns = arena_array(c->f.arena, FRAME_COLUMNS, sizeof *n->columns);
    for (size_t k = 1; k < c->f.t->point_count; k++)
        n->row.values[k] = counters_sum(n->row.values[k], n->row.values[k - 1]);
    for (size_t k = 0; k < FRAME_COLUMNS; k++)
        n->columns[k] = timeline_column(c->f.t, &n->row, k, FRAME_COLUMNS);
}

static void
fill_columns(struct flame *c)
{
    const struct timeline *t = c->f.t;
    const struct profile *p = c->f.p;

    for (uint32_t i = 0; i < c->count; i++)
        if (is_box(c, i))
            c->nodes[i].row.values =
                arena_array(c->f.arena, t->point_count, sizeof *c->nodes[i].row.values);
    for (size_t i = 0; i < p->change_count; i++) {
        size_t point = timeline_point_of(t, &p->changes[i]);
        size_t stack = timeline_stack_of(p, c->stacks, &p->changes[i]);

        if (point < t->point_count && stack != SIZE_MAX)
            timeline_flame_add_change(c, c->leaf_of[stack], point,
                                      timeline_amount(&p->changes[i].amounts, t->by));
    }
    for (uint32_t i = 0; i < c->count; i++)
        if (is_box(c, i))
            finish_columns(c, &c->nodes[i]);
}

/* Return true if N precedes BEFORE: growing paths first, then larger ones. */
static bool
comes_first(const struct node *n, const struct node *before)
{
    return n->grows != before->grows ? n->grows : n->max > before->max;
}

/* Nest boxes in their callers' boxes and count the rows of each. */
static void
link_boxes(struct flame *c)
{
    for (uint32_t i = 1; i < c->count; i++) {
        struct node *n = &c->nodes[i];
        struct node *caller = &c->nodes[c->nodes[n->parent].box];
        uint32_t *link = &caller->first_child;

        if (!is_box(c, i))
            continue;
        n->depth = caller->depth + 1;
        while (*link != 0 && !comes_first(n, &c->nodes[*link]))
            link = &c->nodes[*link].next_sibling;
        n->next_sibling = *link;
        *link = i;
    }
    for (uint32_t i = (uint32_t)c->count; i-- > 0;) {
        if (!is_box(c, i))
            continue;
        c->nodes[i].rows++;
        if (i > 0)
            c->nodes[c->nodes[c->nodes[i].parent].box].rows += c->nodes[i].rows;
    }
}

static const char *
node_name(struct flame *c, const struct node *n)
{
    return n->stack ? frame_function(&c->f, n->stack, n->frame) : "all";
}

/* Return the name of box N: "main › serve" for two nodes; for more, the first and the last. */
static const char *
box_name(struct flame *c, const struct node *n)
{
    const char *first = node_name(c, n), *last = node_name(c, &c->nodes[n->last]);

    if (n->length < 2)
        return first;
    return n->length == 2 ? arena_printf(c->f.arena, "%s " INSIDE " %s", first, last)
                          : arena_printf(c->f.arena, "%s " INSIDE " (%u) " INSIDE " %s", first,
                                         n->length - 2, last);
}

static double
highest(const struct node *n)
{
    double top = 0;

    for (size_t i = 0; i < FRAME_COLUMNS; i++)
        top = n->columns[i] > top ? n->columns[i] : top;
    return top;
}

/* Return the value at which the scale of N's curve begins. A scale from 0 would hide growth on a
 * large base. */
static double
lowest(const struct node *n)
{
    double low = highest(n);

    // Ignore the first columns, because memory is still empty at the start.
    for (size_t i = FRAME_COLUMNS / (TREND_POINTS - 1); i < FRAME_COLUMNS && n->grows; i++)
        low = n->columns[i] < low ? n->columns[i] : low;
    return low > 0 && low < highest(n) ? low * 0.98 : 0;
}

/* Draw the curve of N from column FROM up to TO, in the strip below Y. */
static void
put_curve(struct flame *c, const struct node *n, size_t from, size_t to, double y,
          const char *class)
{
    double ground = y + ROW - 2, low = lowest(n), range = highest(n) - low;

    strbuf_fmt(c->f.out, "<path class=\"curve %s\" d=\"M%.1f %.1f", class,
               frame_column_x(&c->f, from), ground);
    for (size_t i = from; i < to; i++) {
        double above = n->columns[i] > low ? n->columns[i] - low : 0;

        strbuf_fmt(c->f.out, "V%.1fH%.1f", ground - above / range * (ROW - 4),
                   frame_column_x(&c->f, i + 1));
    }
    strbuf_fmt(c->f.out, "V%.1fZ\"/>\n", ground);
}

/* Write the tooltip of box N: its time from column FROM to TO, and its frames, innermost first. */
static void
put_title(struct flame *c, const struct node *n, size_t from, size_t to)
{
    const struct node *inner = &c->nodes[n->last];
    const char *when =
        arena_printf(c->f.arena, "%s to %s, at most %s",
                     amount_time(c->f.arena, timeline_column_ns(c->f.t, from, FRAME_COLUMNS)),
                     amount_time(c->f.arena, timeline_column_ns(c->f.t, to, FRAME_COLUMNS)),
                     frame_amount(&c->f, highest(n)));
    struct stack part = inner->stack ? *inner->stack : (struct stack){0};

    if (part.depth > 0) {
        part.frames += inner->frame;
        part.locations += inner->frame;
        part.depth -= inner->frame;
        part.useful_depth = 0;
    }
    frame_stack_title(&c->f, &part, when);
}

/* Draw the box of N for the columns FROM to TO, during which N held memory. */
static void
put_stretch(struct flame *c, const struct node *n, size_t from, size_t to, double y,
            const char *class)
{
    double x = frame_column_x(&c->f, from), width = frame_column_x(&c->f, to) - x;
    double top = y + INSET, height = n->rows * ROW - 2.0 * INSET, indent;

    strbuf_fmt(c->f.out,
               "<rect class=\"box %s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
               "rx=\"2\">",
               class, x, top, width, height);
    put_title(c, n, from, to);
    strbuf_str(c->f.out, "</rect>\n");
    put_curve(c, n, from, to, y, class);
    indent = 4 + INDENT_PIXELS * n->depth;
    if (width > indent + 4 * CHAR_PIXELS)
        frame_text(&c->f, x + indent, y + ROW - 5.5, "class=\"code curve\"", box_name(c, n),
                   (size_t)((width - indent - 4) / CHAR_PIXELS));
}

static void
timeline_flame_put_node(struct flame *c, uint32_t i, double y)
{
    const struct node *n = &c->nodes[i];
    const char *name = node_name(c, n);
    uint32_t own = 0;
    const char *class = i == 0 ? "rest" : frame_colour(&c->f, name, &own);
    double inside = y + ROW, last = n->columns[FRAME_COLUMNS - 1];

    for (size_t from = 0, to; from < FRAME_COLUMNS; from = to + 1) {
        for (to = from; to < FRAME_COLUMNS && n->columns[to] > 0;)
            to++;
        if (to > from)
            put_stretch(c, n, from, to, y, class);
    }
    frame_text(&c->f, FRAME_WIDTH - FRAME_RIGHT, y + ROW - 5.5,
               n->grows   ? "class=\"code end grows\""
               : last > 0 ? "class=\"code end\""
                          : "class=\"code end muted\"",
               frame_amount(&c->f, highest(n)), 20);
    for (uint32_t k = n->first_child; k != 0; k = c->nodes[k].next_sibling) {
        timeline_flame_put_node(c, k, inside);
        inside += c->nodes[k].rows * ROW;
    }
}

/* Return a sentence on callers that are not known, or NULL. */
static const char *
truncated_text(const struct flame *c)
{
    struct counters sum;
    const char *name = stacks_truncated(c->f.p, c->stacks, &sum);

    return name == NULL
               ? NULL
               : arena_printf(c->f.arena,
                              "The callers of %s are not known, so boxes of other functions show "
                              "lower bounds (\xe2\x89\xa5).",
                              name);
}

static void
put_foot(struct flame *c, double y)
{
    const char *truncated = truncated_text(c);
    size_t left_out = c->count - c->shown;
    const char *text =
        "Each curve has its own scale. On the right: its maximum; red: it grows steadily; grey: "
        "nothing is left.";

    frame_text(
        &c->f, 16, y, "class=\"muted\"",
        "A box is a function, or several that call each other, with their callees inside; it lasts "
        "as long as memory allocated from there was live.",
        200);
    if (left_out)
        text = arena_printf(c->f.arena, "%s %s left out.", text,
                            left_out == 1 ? "1 smaller call is"
                                          : arena_printf(c->f.arena, "%s smaller calls are",
                                                         amount_count(c->f.arena,
                                                                      (int64_t)left_out)));
    frame_text(&c->f, 16, y + FOOT_ROW, "class=\"muted\"", text, 240);
    if (truncated != NULL)
        frame_text(&c->f, 16, y + 2 * FOOT_ROW, "class=\"muted\"", truncated, 240);
}

static void
put_chart(struct flame *c)
{
    const struct profile *p = c->f.p;
    double bottom = FRAME_TOP + (double)c->nodes[0].rows * ROW;

    frame_begin(
        &c->f, bottom + FOOT + (truncated_text(c) != NULL ? FOOT_ROW : 0),
        arena_printf(c->f.arena, "%s: memory held over time", title_program(p, c->f.arena)),
        arena_printf(c->f.arena, "%sheaptap %s", frame_process(&c->f),
                     p->process.heaptap ? p->process.heaptap : ""));
    frame_axis(&c->f, FRAME_TOP, bottom);
    if (c->shown > 1)
        timeline_flame_put_node(c, 0, FRAME_TOP);
    frame_names(&c->f, bottom);
    put_foot(c, bottom + 44);
    frame_end(&c->f);
}

void
timeline_flame(const struct profile *p, const struct stacks *stacks,
               const struct timeline_options *options, struct arena *arena, struct strbuf *out)
{
    struct timeline_options all = *options;
    struct timeline t;
    struct flame c = {.f = {.p = p,
                            .t = &t,
                            .arena = arena,
                            .out = out,
                            .right = FRAME_WIDTH - FRAME_RIGHT - AMOUNT_WIDTH},
                      .stacks = stacks};

    all.limit = 0;
    frame_name_functions(&c.f, stacks);
    timeline_build(p, stacks, &all, arena, &t);
    timeline_flame_build_tree(&c);
    sum_rough(&c);
    timeline_flame_find_maxima(&c);
    choose_nodes(&c);
    fill_columns(&c);
    link_boxes(&c);
    put_chart(&c);
}
