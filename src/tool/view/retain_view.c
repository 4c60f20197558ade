/* retain_view.c: the bytes that roots, sites and blocks keep alive.
 *
 * Roots become nodes of the graph of blocks: a node for each variable, function on a stack and so
 * on, above them a node for each module and thread, and one above all:
 *
 *                        all
 *             ┌───────────┴────────┐
 *           module              threads
 *         ┌───┴────┐           ┌────┴────┐
 *     variable  variable   function  registers
 *         └─► blocks ◄─┘       └─► blocks
 *
 * The blocks below a node in the dominator tree are those that it keeps alone. Blocks that several
 * variables of a module keep are below the module, and blocks of several owners below the topmost
 * node. So each reached block belongs to one row, and the rows add up to all live bytes.
 *
 * A site or a type keeps all blocks below any block of it, each counted once. Rows of sites do not
 * add up: a list's head and its elements both keep the elements.
 *
 * Roots have ranks (retain/block_graph.h). A block that a variable leads to belongs to variables,
 * even if a stack leads there as well: most words on stacks are gone soon, or are remains. So edges
 * to blocks of higher rank are removed first. Lost blocks have the lowest rank. */
#include "view/retain_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/fields.h"
#include "retain/dominators.h"
#include "util/map.h"
#include "view/phrases.h"

const char *const retain_by_names[] = {
    [RETAIN_BY_ROOT] = "root",
    [RETAIN_BY_SITE] = "site",
    [RETAIN_BY_TYPE] = "type",
    [RETAIN_BY_COUNT] = NULL,
};

struct retaining {
    const struct view *v;
    struct profile *p;
    struct retain *r;
    const struct block_stacks *stacks;
    uint32_t blocks; // Number of blocks, which are the first nodes.
    struct dominators tree;
    struct retain_view *out;
};

/* Return true if the filters of R's view select block I. Without filters, blocks that back the
 * program's heaps count although no stack has them. */
static bool
is_selected(const struct retaining *r, uint32_t i)
{
    const struct view *v = r->v;
    bool filtered = v->filter != NULL || v->tags.heap != NULL || v->tags.label != NULL;

    return !filtered || r->stacks->stack_of[i] != 0;
}

static void
add_to(struct block_sum *sum, uint64_t blocks, uint64_t bytes)
{
    sum->blocks += blocks;
    sum->bytes += bytes;
}

/* --- The tree ----------------------------------------------------------------------------- */

/* Append a node for each group of roots, with edges to the targets of the words. */
static void
add_groups(struct retaining *r)
{
    const struct roots *roots = &r->r->roots;
    const struct root_groups *g = &r->out->groups;
    struct block_graph *graph = &r->r->graph;
    size_t *next = xcalloc(g->count + 1, sizeof *next), sum = 0;
    uint32_t *order = xmalloc((roots->word_count + 1) * sizeof *order);

    for (size_t i = 0; i < g->count; i++) {
        next[i] = sum;
        sum += g->v[i].words;
    }
    for (size_t i = 0; i < roots->word_count; i++)
        order[next[g->of_word[i]]++] = (uint32_t)i;
    r->out->first_group = graph->count;
    for (size_t i = 0, k = 0; i < g->count; i++) {
        block_graph_add_node(graph);
        for (; k < next[i]; k++) {
            const struct root_word *word = &roots->words[order[k]];

            if (root_rank(&roots->v[word->root]) == r->r->ranks[word->to])
                block_graph_add_edge(graph, word->to);
        }
    }
    free(order);
    free(next);
}

/* Append a node for each owner, one for all, and one for the beginnings of lost blocks. */
static void
add_owners(struct retaining *r)
{
    const struct root_groups *g = &r->out->groups;
    struct block_graph *graph = &r->r->graph;

    r->out->first_owner = graph->count;
    for (size_t i = 0; i < g->owner_count; i++) {
        block_graph_add_node(graph);
        for (size_t k = 0; k < g->count; k++)
            if (g->v[k].owner == i)
                block_graph_add_edge(graph, r->out->first_group + (uint32_t)k);
    }
    r->out->top = graph->count;
    block_graph_add_node(graph);
    for (size_t i = 0; i < g->owner_count; i++)
        block_graph_add_edge(graph, r->out->first_owner + (uint32_t)i);
    block_graph_add_edge(graph, r->out->top + 1);
    r->out->lost_node = graph->count;
    block_graph_add_node(graph);
    for (uint32_t i = 0; i < r->blocks; i++)
        if (r->r->begins[i])
            block_graph_add_edge(graph, i);
}

static void
find_tree(struct retaining *r)
{
    const struct block *v = r->r->e->blocks.v;

    block_graph_keep_ranks(&r->r->graph, r->r->ranks);
    add_groups(r);
    add_owners(r);
    dominators_find(&r->r->graph, r->out->top, &r->tree);
    for (uint32_t i = 0; i < r->blocks; i++) {
        if (!is_selected(r, i))
            continue;
        add_to(&r->out->total, 1, v[i].size_bytes);
        if (r->r->ranks[i] == RANK_LOST)
            add_to(&r->out->lost, 1, v[i].size_bytes);
    }
}

/* Return the sums over all nodes below each number of the tree: bytes, or with COUNT blocks. Only
 * selected blocks count. Free the result. */
static uint64_t *
sums_of(const struct retaining *r, bool count)
{
    uint64_t *sums = xcalloc(r->tree.count + (size_t)1, sizeof *sums);

    for (uint32_t i = 0; i < r->tree.count; i++) {
        uint32_t node = r->tree.node[i];

        if (node < r->blocks && is_selected(r, node))
            sums[i] = count ? 1 : r->r->e->blocks.v[node].size_bytes;
    }
    dominators_sum(&r->tree, sums);
    return sums;
}

/* --- Rows --------------------------------------------------------------------------------- */

static int
by_retained(const void *a, const void *b)
{
    const struct retain_row *x = a, *y = b;

    if (x->retained.bytes != y->retained.bytes)
        return x->retained.bytes > y->retained.bytes ? -1 : 1;
    if (x->retained.blocks != y->retained.blocks)
        return x->retained.blocks > y->retained.blocks ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Append ROW if it has blocks. */
static void
add_row(struct retain_view *out, struct retain_row row)
{
    if (row.retained.blocks > 0)
        out->rows[out->row_count++] = row;
}

/* Return the sums of NODE, and subtract them from *WHOLE. */
static struct block_sum
take_sum(const struct retaining *r, const uint64_t *bytes, const uint64_t *blocks, uint32_t node,
         struct block_sum *whole)
{
    uint32_t number = r->tree.number[node];
    struct block_sum sum = {.blocks = blocks[number], .bytes = bytes[number]};

    whole->blocks -= sum.blocks;
    whole->bytes -= sum.bytes;
    return sum;
}

/* Return a name for the blocks that only several roots of OWNER together keep; NULL = mapped
 * memory, which is one root. */
static const char *
several_name(const struct retaining *r, const char *owner)
{
    return owner != NULL ? arena_printf(r->v->arena, "several roots of %s", owner)
                         : "several ranges of mapped memory";
}

static void
list_roots(struct retaining *r)
{
    const struct root_groups *g = &r->out->groups;
    uint64_t *bytes = sums_of(r, false), *blocks = sums_of(r, true);
    struct block_sum all = {.blocks = blocks[0], .bytes = bytes[0]};
    struct block_sum *owners = xcalloc(g->owner_count + 1, sizeof *owners);

    r->out->rows =
        arena_array(r->v->arena, g->count + g->owner_count + 2, sizeof *r->out->rows);
    for (size_t i = 0; i < g->owner_count; i++)
        owners[i] = take_sum(r, bytes, blocks, r->out->first_owner + (uint32_t)i, &all);
    take_sum(r, bytes, blocks, r->out->lost_node, &all);
    for (size_t i = 0; i < g->count; i++)
        add_row(r->out, (struct retain_row){
            .kind = g->v[i].kind, .name = g->v[i].name, .owner = g->owners[g->v[i].owner].name,
            .words = g->v[i].words,
            .retained = take_sum(r, bytes, blocks, r->out->first_group + (uint32_t)i,
                                 &owners[g->v[i].owner])});
    for (size_t i = 0; i < g->owner_count; i++)
        add_row(r->out, (struct retain_row){
            .kind = RETAIN_SEVERAL, .name = several_name(r, g->owners[i].name),
            .owner = g->owners[i].name, .retained = owners[i]});
    add_row(r->out, (struct retain_row){
        .kind = RETAIN_SEVERAL, .name = "several modules or threads", .retained = all});
    add_row(r->out, (struct retain_row){
        .kind = RETAIN_LOST, .retained = r->out->lost,
        .name = r->out->lacks_memory ? "nothing in the rest of the dump: perhaps lost"
                                     : "nothing: lost"});
    free(owners);
    free(bytes);
    free(blocks);
}

/* --- Rows of sites and types -------------------------------------------------------------- */

/* Rows, and the row of each block. */
struct row_table {
    uint32_t *of_site; // By id of a site in the file: index of the row plus 1; 0 = none.
    uint32_t site_count;
    struct retain_row *rows;
    size_t count;
};

static const char *
type_of(const struct profile *p, const struct profile_site *site)
{
    return site->verdict >= VERDICT_LIKELY && site->type != 0 ? profile_string(p, site->type)
                                                              : NULL;
}

/* Return the index plus 1 of the row in *SLOT, which is made for SITE, whose stack is S, if it is
 * 0. */
static uint32_t
row_in_slot(const struct retaining *r, struct row_table *t, uint64_t *slot,
            const struct profile_site *site, const struct stack *s)
{
    if (*slot == 0) {
        t->rows[t->count] = r->out->by == RETAIN_BY_TYPE
                                ? (struct retain_row){.name = type_of(r->p, site)}
                                : (struct retain_row){.name = memory_view_function(r->v, s),
                                                      .line = memory_view_line(r->v, s),
                                                      .stack = s};
        *slot = ++t->count;
    }
    return (uint32_t)*slot;
}

static struct row_table
make_rows(const struct retaining *r)
{
    const struct profile *p = r->p;
    struct row_table t = {.rows = arena_array(r->v->arena, p->site_count + 1, sizeof *t.rows)};
    struct map slots = {0}; // By string of a type, or by stack.

    for (size_t i = 0; i < p->site_count; i++)
        if (p->sites[i].id >= t.site_count)
            t.site_count = p->sites[i].id + 1;
    t.of_site = xcalloc(t.site_count + (size_t)1, sizeof *t.of_site);
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];
        uint32_t stack = r->v->stacks->site_stacks[i];
        uint64_t key = r->out->by == RETAIN_BY_SITE ? stack
                       : type_of(p, site) != NULL   ? site->type
                                                    : 0;

        if (stack != 0 && site->id != 0)
            t.of_site[site->id] = row_in_slot(r, &t, map_put(&slots, key, NULL), site,
                                              &r->v->stacks->v[stack - 1]);
    }
    map_release(&slots);
    return t;
}

/* A walk through the dominator tree, from the root on. */
struct tree_walk {
    uint32_t *child, *next; // By number: first node below, and next node with the same one above.
    uint32_t *open;         // By row: number of blocks above the present one.
};

static struct tree_walk
walk_new(const struct dominators *d, size_t rows)
{
    struct tree_walk w = {.child = xcalloc(d->count, sizeof *w.child),
                          .next = xcalloc(d->count, sizeof *w.next),
                          .open = xcalloc(rows + 1, sizeof *w.open)};

    for (uint32_t i = d->count; i-- > 1;) {
        w.next[i] = w.child[d->above[i]];
        w.child[d->above[i]] = i;
    }
    return w;
}

/* Return the row of the node with NUMBER, or NULL. */
static struct retain_row *
row_at(const struct retaining *r, const struct row_table *t, uint32_t number)
{
    uint32_t node = r->tree.node[number], site, row;

    if (node >= r->blocks || !is_selected(r, node))
        return NULL;
    site = r->r->e->blocks.v[node].site;
    row = site < t->site_count ? t->of_site[site] : 0;
    return row != 0 ? &t->rows[row - 1] : NULL;
}

/* Add to each row the sums below its topmost blocks. */
static void
sum_rows(const struct retaining *r, struct row_table *t)
{
    uint64_t *bytes = sums_of(r, false), *blocks = sums_of(r, true);
    struct tree_walk w = walk_new(&r->tree, t->count);
    uint32_t at = 0;

    // 0 is the root, which is below no node.
    while (r->tree.count > 0) {
        struct retain_row *row;

        if (w.child[at] != 0) {
            uint32_t below = w.child[at];

            w.child[at] = w.next[below];
            at = below;
            row = row_at(r, t, at);
            if (row == NULL)
                continue;
            add_to(&row->own, 1, r->r->e->blocks.v[r->tree.node[at]].size_bytes);
            if (w.open[row - t->rows]++ == 0)
                add_to(&row->retained, blocks[at], bytes[at]);
            continue;
        }
        if (at == 0)
            break;
        row = row_at(r, t, at);
        if (row != NULL)
            w.open[row - t->rows]--;
        at = r->tree.above[at];
    }
    free(w.child);
    free(w.next);
    free(w.open);
    free(bytes);
    free(blocks);
}

static void
list_sites(struct retaining *r)
{
    struct row_table t = make_rows(r);

    sum_rows(r, &t);
    r->out->rows = arena_array(r->v->arena, t.count + 1, sizeof *r->out->rows);
    for (size_t i = 0; i < t.count; i++) {
        if (t.rows[i].name == NULL)
            t.rows[i].name = "types that are not known";
        add_row(r->out, t.rows[i]);
    }
    free(t.of_site);
}

/* --- The path ----------------------------------------------------------------------------- */

static const struct profile_site *
site_of(const struct profile *p, const struct block *b)
{
    for (size_t i = 0; i < p->site_count; i++)
        if (p->sites[i].id == b->site && b->site != 0)
            return &p->sites[i];
    return NULL;
}

/* Return the place of the word at OFF of block B: a member, or "byte 24". */
static const char *
holder_name(const struct retaining *r, const struct block *b, uint64_t off)
{
    const struct profile_site *site = site_of(r->p, b);
    const char *name = site != NULL ? member_name(r->p, site, b->size_bytes, off, r->v->arena)
                                    : NULL;

    return name != NULL ? name : arena_printf(r->v->arena, "byte %" PRIu64, off);
}

/* Return true if the node with the number A is above the one with B, or the same. */
static bool
tree_is_above(const struct dominators *d, uint32_t a, uint32_t b)
{
    while (b > a)
        b = d->above[b];
    return a == b;
}

static void
describe_path(struct retaining *r)
{
    const struct block_path *path = &r->r->path;
    const struct block *v = r->r->e->blocks.v;
    struct retain_view *out = r->out;

    out->steps = arena_array(r->v->arena, path->count + 1, sizeof *out->steps);
    if (path->root != NULL)
        out->root = r->out->groups.v[r->out->groups.of_word[path->root - r->r->roots.words]].kind;
    for (size_t i = 0; i < path->count; i++) {
        const struct block *b = &v[path->blocks[i]];
        const struct retain_word *word = &r->r->words[i];
        const struct profile_site *site = site_of(r->p, b);
        struct retain_step *s = &out->steps[out->step_count++];

        *s = (struct retain_step){.block = b, .within = word->value - b->address, .at = word->at};
        s->type = site != NULL ? type_of(r->p, site) : NULL;
        if (i == 0) {
            s->holder = root_groups_word(r->v, r->r, &r->out->groups, path->root);
        } else {
            s->at -= v[path->blocks[i - 1]].address;
            s->holder = holder_name(r, &v[path->blocks[i - 1]], s->at);
        }
        s->only = tree_is_above(&r->tree, r->tree.number[path->blocks[i]],
                                r->tree.number[path->blocks[path->count - 1]]);
    }
}

/* Find the path to the target, and the blocks that it keeps. */
static void
describe_target(struct retaining *r)
{
    uint32_t number = r->tree.number[r->r->target - r->r->e->blocks.v];
    uint64_t *bytes = sums_of(r, false), *blocks = sums_of(r, true);

    describe_path(r);
    r->out->retained = (struct block_sum){.blocks = blocks[number], .bytes = bytes[number]};
    free(bytes);
    free(blocks);
}

void
retain_view_build(const struct view *v, struct profile *p, const struct block_stacks *stacks,
                  struct retain *r, enum retain_by by, struct retain_view *ret)
{
    struct retaining work = {.v = v, .p = p, .r = r, .stacks = stacks, .out = ret,
                             .blocks = r->graph.count};

    *ret = (struct retain_view){
        .retain = r,
        .by = by,
        .lacks_memory = r->e->memory.missing_bytes > 0 || r->e->excluded_bytes > 0};
    root_groups_build(v, r, &ret->groups);
    find_tree(&work);
    if (r->target != NULL)
        describe_target(&work);
    else if (by == RETAIN_BY_ROOT)
        list_roots(&work);
    else
        list_sites(&work);
    if (ret->row_count > 1)
        qsort(ret->rows, ret->row_count, sizeof *ret->rows, by_retained);
    dominators_release(&work.tree);
}
