/* flame_tree.c: build the tree of a flame graph from stacks.
 *
 * Stacks are walked from the root inwards. A frame's id is assigned by its text (name, module,
 * inlined, and the file's name if functions of other files may have the name), so one exact 64-bit
 * key finds the child of a node: parent << 32 | frame id. Lines are not part of the key: a function
 * that allocates in two places is one box.
 *
 * With two sides, equal stacks meet at the same node. Each side's values are first summed per leaf
 * node, because the width is the sum of max(before, after) over leaves. So a picture of differences
 * shows both growth and shrinkage.
 *
 *     read both sides (values at leaves) ─► widths of leaves ─► sums upwards ─► keep the wide
 *
 * Parents are created before children, so sums need one backward pass over the array and no
 * recursion, however deep the stacks are. */
#include "svg/flame_tree.h"

#include <string.h>

#include "analyse/frame_name.h"
#include "util/strbuf.h"

struct builder {
    struct arena *arena;
    bool two_sided;
    struct strtab functions; // Text of a function to its id plus 1.
    struct map keys;         // Function and `inlined` to the frame's index.
    struct strbuf key;
    struct flame_frame *frames;
    size_t frame_count, frame_capacity;
    struct flame_node *nodes;
    size_t node_count, node_capacity;
    struct map children; // parent << 32 | frame id to node.
    size_t too_deep;
};

/* Return the id of the frame with this text, and create it if it is new. IN_PROGRAM is true if the
 * module, a path, is the program itself, whose name may differ between the sides. FILE is part of
 * the text if OF_FILE is true. The directories of two sides may differ as well. */
static uint32_t
flame_tree_frame_id(struct builder *b, const char *name, const char *module, bool in_program,
                    const char *file, bool of_file, bool inlined)
{
    const char *base = path_basename(module);
    uint32_t function;
    uint64_t *id;
    bool new;

    strbuf_clear(&b->key);
    strbuf_fmt(&b->key, "%s\n%s\n%s", in_program ? "" : b->two_sided ? base : module, name,
               !of_file ? "" : b->two_sided ? path_basename(file) : file);
    function = strtab_id(&b->functions, strbuf_text(&b->key)) - 1; // No key is empty.
    id = map_put(&b->keys, (uint64_t)function << 1 | inlined, &new);
    if (new) {
        *id = b->frame_count++;
        arena_grow(b->arena, &b->frames, &b->frame_capacity, *id, sizeof *b->frames);
        b->frames[*id] = (struct flame_frame){.name = arena_strdup(b->arena, name),
                                              .place = "",
                                              .module = arena_strdup(b->arena, base),
                                              .file = arena_strdup(b->arena, file),
                                              .function = function,
                                              .inlined = inlined};
    }
    return (uint32_t)*id;
}

/* Set the places of the frames. */
static void
flame_tree_place_frames(struct builder *b)
{
    size_t count = 0;
    struct path_owner *owners = arena_array(b->arena, b->frame_count, sizeof *owners);
    const char **places;

    for (size_t i = 0; i < b->frame_count; i++) {
        const struct flame_frame *f = &b->frames[i];

        if (f->function < count)
            continue;
        // Functions are numbered in the order of their first frames.
        owners[count++] =
            (struct path_owner){f->name, *f->file != '\0' ? f->file : f->module, f->module};
    }
    places = path_tails(b->arena, owners, count);
    for (size_t i = 0; i < b->frame_count; i++)
        b->frames[i].place = places[b->frames[i].function];
}

static uint32_t
child_node(struct builder *b, uint32_t parent, uint32_t frame, uint32_t line)
{
    bool new;
    uint64_t *slot = map_put(&b->children, (uint64_t)parent << 32 | frame, &new);

    if (new) {
        *slot = b->node_count++;
        arena_grow(b->arena, &b->nodes, &b->node_capacity, *slot, sizeof *b->nodes);
        b->nodes[*slot] = (struct flame_node){
            .parent = parent, .frame = frame, .line = line, .depth = b->nodes[parent].depth + 1};
    } else if (b->nodes[*slot].line != line) {
        b->nodes[*slot].line = 0;
    }
    return (uint32_t)*slot;
}

static uint32_t
profile_frame_id(struct builder *b, const struct profile *p, uint32_t frame, uint32_t location,
                 uint32_t *known)
{
    const struct profile_frame *f = &p->frames[frame];

    if (known[frame] == 0)
        known[frame] = flame_tree_frame_id(b, frame_name(p, frame, location, b->arena),
                                           profile_code_of(p, f),
                                           profile_is_program(p, f->module),
                                           profile_string(p, f->file), profile_is_of_file(f),
                                           f->inlined) +
                       1;
    return known[frame] - 1;
}

/* Return the node of stack S, and create it if it is new. Frames beyond FLAME_DEPTH_MAX are left
 * out, innermost first. */
static uint32_t
stack_node(struct builder *b, const struct flame_side *side, const struct stack *s, uint32_t *known)
{
    const struct profile *p = side->p;
    const char *above[] = {tags_root(p, &side->roots, s->heap, s->labels, b->arena),
                           stack_root(p, s)};
    uint32_t node = 0, end = 0;

    for (size_t i = 0; i < countof(above); i++)
        if (above[i] != NULL)
            node = child_node(
                b, node, flame_tree_frame_id(b, above[i], "", false, "", false, false), 0);
    if (s->depth > FLAME_DEPTH_MAX) {
        end = s->depth - FLAME_DEPTH_MAX;
        b->too_deep += end;
    }
    for (uint32_t i = s->depth; i-- > end;)
        node = child_node(b, node, profile_frame_id(b, p, s->frames[i], s->locations[i], known),
                          p->frames[s->frames[i]].line);
    return node;
}

/* Add VALUE to *SUM. Saturates, because a damaged file may have any number, and a caller must be as
 * wide as its callees. */
static void
flame_tree_add_to(int64_t *sum, int64_t value)
{
    if (__builtin_add_overflow(*sum, value, sum))
        *sum = value > 0 ? INT64_MAX : INT64_MIN;
}

/* Add the stacks of SIDE to the before or after values of their leaves. */
static void
flame_tree_read_side(struct builder *b, const struct flame_side *side, bool is_before)
{
    uint32_t *known = arena_array(b->arena, side->p->frame_count, sizeof *known);

    for (size_t i = 0; i < side->stacks->count; i++) {
        const struct stack *s = &side->stacks->v[i];
        uint32_t leaf = stack_node(b, side, s, known);
        struct flame_node *n = &b->nodes[leaf];

        for (int m = 0; m < METRICS; m++)
            flame_tree_add_to(&(is_before ? n->before : n->after)[m],
                              metric_value(&s->counters, (enum metric)m));
    }
}

static int64_t
flame_tree_at_least_zero(int64_t value)
{
    return value > 0 ? value : 0;
}

/* Turn values of leaves into inclusive ones. Negative values (rows in flight when copied) count as
 * 0. */
static void
flame_tree_sum_up(struct builder *b)
{
    for (size_t i = 0; i < b->node_count; i++)
        for (int m = 0; m < METRICS; m++) {
            struct flame_node *n = &b->nodes[i];

            n->before[m] = flame_tree_at_least_zero(n->before[m]);
            n->after[m] = flame_tree_at_least_zero(n->after[m]);
            n->width[m] = n->before[m] > n->after[m] ? n->before[m] : n->after[m];
        }
    for (size_t i = b->node_count; i-- > 1;)
        for (int m = 0; m < METRICS; m++) {
            const struct flame_node *n = &b->nodes[i];
            struct flame_node *parent = &b->nodes[n->parent];

            flame_tree_add_to(&parent->before[m], n->before[m]);
            flame_tree_add_to(&parent->after[m], n->after[m]);
            flame_tree_add_to(&parent->width[m], n->width[m]);
        }
}

static bool
wide_enough(const struct flame_node *n, const struct flame_node *root, int64_t cut_fraction)
{
    for (int m = 0; m < METRICS; m++)
        if (n->width[m] > 0 && (double)n->width[m] * (double)cut_fraction >= (double)root->width[m])
            return true;
    return false;
}

/* Copy the nodes that are wide enough to *RET, with new indices. A parent is as wide as its child
 * in every metric, so the parent of a kept node is kept. */
static void
keep_wide(struct builder *b, int64_t cut_fraction, struct flame_tree *ret)
{
    uint32_t *index = arena_array(b->arena, b->node_count, sizeof *index);

    ret->nodes = arena_array(b->arena, b->node_count, sizeof *ret->nodes);
    ret->nodes[ret->node_count++] = b->nodes[0];
    for (size_t i = 1; i < b->node_count; i++) {
        struct flame_node n = b->nodes[i];

        if (!wide_enough(&n, &b->nodes[0], cut_fraction)) {
            ret->cut_count++;
            continue;
        }
        n.parent = index[n.parent];
        index[i] = (uint32_t)ret->node_count;
        ret->nodes[ret->node_count++] = n;
        if (n.depth > ret->depth)
            ret->depth = n.depth;
    }
    ret->cut_count += b->too_deep;
}

void
flame_tree_build(const struct flame_side *before, const struct flame_side *after,
                 int64_t cut_fraction, struct arena *arena, struct flame_tree *ret)
{
    struct builder b = {.arena = arena, .two_sided = before != NULL};

    *ret = (struct flame_tree){.two_sided = before != NULL};
    flame_tree_frame_id(&b, "all", "", false, "", false, false);
    arena_grow(arena, &b.nodes, &b.node_capacity, 0, sizeof *b.nodes);
    b.nodes[b.node_count++] = (struct flame_node){.parent = 0};
    if (before)
        flame_tree_read_side(&b, before, true);
    flame_tree_read_side(&b, after, false);
    flame_tree_sum_up(&b);
    keep_wide(&b, cut_fraction, ret);
    flame_tree_place_frames(&b);
    ret->frames = b.frames;
    ret->frame_count = b.frame_count;
    map_release(&b.children);
    strtab_release(&b.functions);
    map_release(&b.keys);
    strbuf_release(&b.key);
}
