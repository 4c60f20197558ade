/* stacks_valid.c: stacks add up, whichever way they are looked at.
 *
 * What a view shows comes from the same sites: by stack, by function, as a tree. So each of them
 * must come to the same total, and does exactly, since sums wrap. Of inclusive amounts it is not
 * asked that they are the larger ones: with the numbers of a damaged file they need not be. But the
 * range of sizes only ever gets wider, whatever the numbers are, and tells that a stack was added.
 */
#include "analyse/stacks_valid.h"

#include "profile/profile_valid.h"
#include "util/ensure.h"

static bool
frames_are_valid(const struct profile *p, const struct stack *s)
{
    for (uint32_t i = 0; i < s->depth; i++) {
        const struct profile_location *l;

        HOLDS(s->locations[i] < p->location_count); // That of a node.
        l = &p->locations[s->locations[i]];
        HOLDS(s->frames[i] - l->first_frame < l->frame_count); // A frame is one of its location's.
    }
    return true;
}

static bool
stack_is_valid(const struct profile *p, const struct stack *s)
{
    HOLDS(s->node != 0 && s->node < p->node_count); // That of one of its sites,
    HOLDS(s->heap < p->heap_count);                 // as this is. Of labels it may have several.
    HOLDS(s->labels < p->label_set_count || s->labels == STACK_LABELS_SEVERAL);
    return frames_are_valid(p, s);
}

/* Each site is in one stack or in none; SUMS has a zero for each stack. */
static bool
shares_are_valid(const struct profile *p, const struct stacks *s, struct counters *sums)
{
    struct counters total = COUNTERS_ZERO;

    for (size_t i = 0; i < p->site_count; i++) {
        uint32_t stack = s->site_stacks[i];

        HOLDS(stack <= s->count);         // It is found by this.
        HOLDS(stack != 0 || s->filtered); // Views say that something is missing.
        if (stack == 0)
            continue;
        counters_add(&sums[stack - 1], &p->sites[i].counters);
        counters_add(&total, &p->sites[i].counters);
    }
    for (size_t i = 0; i < s->count; i++)
        HOLDS(counters_are_same(&sums[i], &s->v[i].counters)); // A stack is the sum of its sites,
    HOLDS(counters_are_same(&total, &s->total));               // and the total that of all.
    return true;
}

static struct counters *
new_sums(struct arena *scratch, size_t count)
{
    struct counters *sums = arena_array(scratch, count, sizeof *sums);

    for (size_t i = 0; i < count; i++)
        sums[i] = COUNTERS_ZERO;
    return sums;
}

bool
stacks_are_valid(const struct profile *p, const struct stacks *s)
{
    struct arena scratch = {0};
    bool valid = true;

    for (size_t i = 0; i < s->count && valid; i++)
        valid = stack_is_valid(p, &s->v[i]);
    valid = valid && shares_are_valid(p, s, new_sums(&scratch, s->count));
    arena_release(&scratch);
    return valid;
}

/* A row says what it is a row of. */
static bool
row_is_valid(const struct profile *p, enum group_by by, const struct group_row *r)
{
    HOLDS(r->frame == GROUP_NO_FRAME || r->frame < p->frame_count); // Its name is looked up there.
    HOLDS(by != BY_SITE || r->stack != NULL);                       // Views show its frames,
    HOLDS(by != BY_THREAD || r->thread != NULL);                    // the name of this,
    HOLDS(by != BY_SIZE || r->bin != NULL);                         // the range of this,
    HOLDS(by != BY_TYPE || r->site != NULL);                        // the type of this,
    HOLDS(by != BY_HEAP || r->heap != NULL);                        // and the name of this.
    HOLDS(r->inclusive.size_min <= r->self.size_min); // What ends in a row leads through it,
    HOLDS(r->inclusive.size_max >= r->self.size_max); // at both ends of the range.
    return true;
}

bool
groups_are_valid(const struct profile *p, const struct stacks *stacks, enum group_by by,
                 enum metric metric, const struct groups *g)
{
    struct counters selves = COUNTERS_ZERO;

    for (size_t i = 0; i < g->count; i++) {
        if (!row_is_valid(p, by, &g->v[i]))
            return false;
        counters_add(&selves, &g->v[i].self);
        // Views show the first ones.
        HOLDS(i == 0 ||
              metric_value(&g->v[i - 1].self, metric) >= metric_value(&g->v[i].self, metric));
    }
    HOLDS(by != BY_SITE || g->count == stacks->count); // Each stack is a row.
    // A stack ends in one row. Rows by thread and by size are left out if they seem unused.
    HOLDS(by == BY_THREAD || by == BY_SIZE || counters_are_same(&selves, &stacks->total));
    return true;
}

/* The children of node I, none of which is another's: SEEN has one for each node. */
static bool
children_are_valid(const struct tree *t, uint32_t i, enum metric metric, bool *seen)
{
    const struct tree_node *n = &t->nodes[i];
    struct counters sum = n->self;
    uint32_t last = 0;

    for (uint32_t c = n->first_child; c != 0; c = t->nodes[c].next_sibling) {
        HOLDS(c > i && c < t->count);             // A child is made after its parent.
        HOLDS(!seen[c]);                          // It has one parent, so walks end.
        HOLDS(t->nodes[c].depth == n->depth + 1); // Views indent by this.
        HOLDS(last == 0 || metric_value(&t->nodes[last].inclusive, metric) >=
                               metric_value(&t->nodes[c].inclusive, metric)); // Largest first.
        seen[c] = true;
        counters_add(&sum, &t->nodes[c].inclusive);
        last = c;
    }
    HOLDS(counters_are_same(&sum, &n->inclusive)); // A stack ends here or leads to one child.
    return true;
}

bool
tree_is_valid(const struct stacks *stacks, enum metric metric, const struct tree *t)
{
    struct arena scratch = {0};
    bool *seen = arena_array(&scratch, t->count, sizeof *seen), valid = t->count > 0;
    size_t missing = 0;

    for (uint32_t i = 0; i < t->count && valid; i++)
        valid = children_are_valid(t, i, metric, seen);
    for (size_t i = 1; i < t->count; i++)
        missing += !seen[i];
    arena_release(&scratch);
    if (!valid)
        return false;
    HOLDS(missing == 0); // What is below no node is never shown.
    HOLDS(counters_are_same(&t->nodes[0].inclusive, &stacks->total)); // All stacks begin there.
    return true;
}
