/* text_tree.c: the tree of functions as text.
 *
 *        %        live    itself  function, callees below
 *    100.0 %   2.0 MiB            main
 *     60.0 %   1.2 MiB   1.2 MiB  ├ parse
 *     40.0 %   0.8 MiB            └ load
 *     40.0 %   0.8 MiB   0.8 MiB    read_all
 *
 * Only branches indent: a chain of single calls stays in its column, since stacks are deep and
 * lines are short. Branches below half a percent are left out. An empty line separates roots. The
 * last line counts the rows that limits left out. */
#include "text/text.h"

#include <math.h>
#include <string.h>

#include "analyse/totals.h"
#include "text/text_view.h"
#include "view/phrases.h"

enum { TREE_DEPTH_MAX = 1000, TREE_THRESHOLD_PER_MILLE = 5, ERROR_WIDTH = 10 };

struct tree_text {
    struct text_view *v;
    const struct tree *tree;
    struct functions functions; // For labels.
    enum metric metric;
    bool has_self; // False for bottom-up trees, where self values are not useful.
    bool has_errors;
    struct strbuf prefix; // Prefix of the lines below a branch.
    size_t rows;          // Rows written.
};

static bool
is_shown(const struct tree_text *t, uint32_t node)
{
    int64_t value = metric_value(&t->tree->nodes[node].inclusive, t->metric);
    int64_t total = metric_value(&t->tree->nodes[0].inclusive, t->metric);

    return value != 0 &&
           fabs((double)value) * 1000 >= fabs((double)total) * TREE_THRESHOLD_PER_MILLE;
}

/* Return the columns of the numbers in front of the branches. */
static size_t
numbers_width(const struct tree_text *t)
{
    return (t->has_self ? 36u : 24u) + (t->has_errors ? ERROR_WIDTH : 0u);
}

/* Return the maximum width of the branches, which leaves room for names. */
static size_t
branches_width(const struct tree_text *t)
{
    size_t width = t->v->style.width, room = style_room(&t->v->style, numbers_width(t));

    if (text_is_wide(t->v))
        return SIZE_MAX;
    room = room > TEXT_NAME_MIN ? room - TEXT_NAME_MIN : 0;
    return room < width / 3 ? room : width / 3;
}

static void
put_tree_line(struct tree_text *t, const struct tree_node *n, const char *branch)
{
    struct text_view *v = t->v;
    const char *self = metric_value(&n->self, t->metric) ? text_metric(v, &n->self, t->metric) : "";
    size_t indent = style_width(strbuf_text(&t->prefix)) + style_width(branch);
    size_t room = style_room(&v->style, numbers_width(t) + indent);

    style_right(v->out,
                style_percent(v->base.arena, metric_value(&n->inclusive, t->metric),
                              metric_value(&t->tree->nodes[0].inclusive, t->metric)),
                8);
    style_attr(&v->style, v->out, ATTR_NUMBER);
    style_right(v->out, text_metric(v, &n->inclusive, t->metric), 14);
    style_attr(&v->style, v->out, ATTR_PLAIN);
    if (t->has_errors)
        style_right(v->out,
                    sampling_mark(v->base.arena, &n->inclusive, n->inclusive_errors, t->metric),
                    ERROR_WIDTH);
    if (t->has_self)
        style_right(v->out, self, 12);
    strbuf_str(v->out, "  ");
    style_text(&v->style, v->out, ATTR_DIM,
               arena_printf(v->base.arena, "%s%s", strbuf_text(&t->prefix), branch));
    if (n->root != NULL)
        strbuf_str(v->out, style_cut_end(v->base.arena, n->root, room));
    else
        strbuf_str(v->out,
                   text_function(v, &t->functions,
                                 functions_of_frame(&t->functions, n->frame, n->location), room));
    strbuf_char(v->out, '\n');
}

static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than TREE_DEPTH_MAX.
put_children(struct tree_text *t, uint32_t parent)
{
    const struct tree_node *nodes = t->tree->nodes;
    size_t shown = 0, limit = branches_width(t);

    if (nodes[parent].depth >= TREE_DEPTH_MAX)
        return;
    for (uint32_t c = nodes[parent].first_child; c != 0; c = nodes[c].next_sibling)
        shown += is_shown(t, c);
    for (uint32_t c = nodes[parent].first_child; c != 0 && shown > 0; c = nodes[c].next_sibling) {
        size_t before = t->prefix.length;
        uint32_t next = nodes[c].next_sibling;
        bool is_last = next == 0 || !is_shown(t, next);
        bool branches =
            shown > 1 && parent != 0 && style_width(strbuf_text(&t->prefix)) + 2 < limit;

        if (!is_shown(t, c))
            break;
        if (parent == 0 && c != nodes[0].first_child)
            strbuf_char(t->v->out, '\n');
        t->rows++;
        put_tree_line(t, &nodes[c], !branches ? "" : is_last ? "\xe2\x94\x94 " : "\xe2\x94\x9c ");
        if (branches)
            strbuf_str(&t->prefix, is_last ? "  " : "\xe2\x94\x82 ");
        put_children(t, c);
        strbuf_cut(&t->prefix, before);
    }
}

/* Return the number of rows below PARENT. */
static size_t
// NOLINTNEXTLINE(misc-no-recursion): no deeper than TREE_DEPTH_MAX.
text_tree_count_rows(const struct tree_text *t, uint32_t parent)
{
    const struct tree_node *nodes = t->tree->nodes;
    size_t rows = 0;

    if (nodes[parent].depth >= TREE_DEPTH_MAX)
        return 0;
    for (uint32_t c = nodes[parent].first_child; c != 0 && is_shown(t, c);
         c = nodes[c].next_sibling)
        rows += 1 + text_tree_count_rows(t, c);
    return rows;
}

void
text_tree(struct text_view *v, enum tree_direction direction, enum metric metric, size_t depth)
{
    size_t all;
    struct tree tree;
    struct tree_text t = {.v = v,
                          .tree = &tree,
                          .metric = metric,
                          .has_self = direction == TREE_TOP_DOWN,
                          .has_errors = profile_has_errors(v->base.p) ||
                                        profile_has_unbounded(v->base.p)};

    tree_build(v->base.p, v->base.stacks, direction, metric, v->base.arena, &tree);
    functions_init_labels(&t.functions, v->base.p, v->base.stacks, v->base.arena);
    all = text_tree_count_rows(&t, 0);
    if (v->base.limit || depth)
        tree_prune(&tree, metric, v->base.limit, depth, v->base.arena);
    strbuf_char(v->out, '\n');
    style_attr(&v->style, v->out, ATTR_DIM);
    style_right(v->out, "%", 8);
    style_right(v->out, phrase_metric_column(v->base.p, metric), 14);
    if (t.has_errors)
        style_right(v->out, "error", ERROR_WIDTH);
    if (t.has_self)
        style_right(v->out, "itself", 12);
    strbuf_str(v->out, style_room(&v->style, numbers_width(&t)) < strlen("function, callees below")
                           ? "  function"
                       : direction == TREE_TOP_DOWN ? "  function, callees below"
                                                    : "  function, callers below");
    style_attr(&v->style, v->out, ATTR_PLAIN);
    strbuf_char(v->out, '\n');
    put_children(&t, 0);
    strbuf_release(&t.prefix);
    functions_release(&t.functions);
    if (t.rows < all)
        text_line(v, ATTR_DIM,
                  arena_printf(v->base.arena, "\xe2\x80\xa6 %s; %s",
                               style_plural(v->base.arena, (int64_t)(all - t.rows), "more row"),
                               !depth            ? "--limit shows more"
                               : !v->base.limit ? "--depth shows more"
                                                : "--limit and --depth show more"));
}
