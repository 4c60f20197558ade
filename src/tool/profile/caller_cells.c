/* caller_cells.c: find the whole stacks of each short stack, and their fractions.
 *
 * Stacks with the same innermost frames are a group, found by a tree of sites. A cell is the part
 * of a group in one size class, heap, set of labels and share of callers. Its members are the whole
 * stacks. For each count, the members' fractions are boundaries on [0, 1]. */
#include <math.h>

#include "profile/caller_spread.h"

int64_t
callers_cut(double boundary, int64_t amount)
{
    double below;

    if (!(boundary > 0))
        return 0;
    if (boundary >= 1)
        return amount;
    below = floor(boundary * (double)amount);
    if (below >= 9.2e18 || below <= -9.2e18) // Only a damaged file has such counts.
        return amount;
    return (int64_t)below;
}

/* --- Groups and cells ------------------------------------------------------------------------- */

/* Mark the nodes of short stacks, and their locations. Return true if there are any. */
static bool
find_short(struct spreader *s)
{
    struct profile *p = s->p;
    bool any = false;

    s->is_short = arena_alloc(&s->arena, p->node_count);
    for (size_t i = 1; i < p->node_count; i++) {
        const struct profile_node *n = &p->nodes[i];

        if ((n->flags & NODE_CALLERLESS) || s->is_short[n->parent]) {
            s->is_short[i] = true;
            p->locations[n->location].of_site = true;
            any = true;
        }
    }
    return any;
}

/* Return the place outside PLACE for LOCATION; 0 if there is none and MAKE is false. */
static uint32_t
callers_place(struct spreader *s, uint32_t place, uint32_t location, bool make)
{
    uint64_t key = (uint64_t)place << 32 | location;
    const uint64_t *known = map_get(&s->children, key);
    bool is_new;

    if (known != NULL || !make)
        return known != NULL ? (uint32_t)*known : 0;
    arena_grow(&s->arena, &s->groups, &s->place_capacity, s->place_count, sizeof *s->groups);
    s->groups[s->place_count] = 0;
    *map_put(&s->children, key, &is_new) = s->place_count;
    return (uint32_t)s->place_count++;
}

/* Return the group of the short stack NODE, made if it is new. */
static uint32_t
group_of_short(struct spreader *s, uint32_t node)
{
    uint32_t place = 0;

    for (uint32_t at = node; at != 0; at = s->p->nodes[at].parent)
        place = callers_place(s, place, s->p->nodes[at].location, true);
    if (s->groups[place] == 0)
        s->groups[place] = node;
    return s->groups[place];
}

uint32_t
callers_group_of_whole(struct spreader *s, uint32_t node)
{
    const struct profile *p = s->p;
    uint32_t place = 0, group = 0;

    if (s->group_of[node] != 0)
        return s->group_of[node] - 1;
    for (uint32_t at = node; at != 0; at = p->nodes[at].parent) {
        uint32_t location = p->nodes[at].location;

        if (profile_language(p, &p->locations[location]) != 0)
            continue;
        place = callers_place(s, place, location, false);
        if (place == 0)
            break;
        if (s->groups[place] != 0)
            group = s->groups[place];
    }
    s->group_of[node] = group + 1;
    return group;
}

/* Return the cell of SITE in GROUP, made if MAKE; else NULL if there is none. All its
 * blocks have one share of callers, since whole stacks of another share are no random sample. */
static struct cell *
callers_cell(struct spreader *s, uint32_t group, const struct profile_site *site, bool make)
{
    // The loader limits label sets to 2^13, and heaps to 2^12.
    uint64_t key = (uint64_t)group << 32 | (uint64_t)site->callers << 28 |
                   (uint64_t)site->size_class << 25 | (uint64_t)site->heap << 13 | site->labels;
    uint64_t *known = map_get(&s->cell_of, key);
    bool is_new;

    if (known != NULL || !make)
        return known != NULL ? &s->cells[*known] : NULL;
    arena_grow(&s->arena, &s->cells, &s->cell_capacity, s->cell_count, sizeof *s->cells);
    s->cells[s->cell_count] = (struct cell){.group = group};
    *map_put(&s->cell_of, key, &is_new) = s->cell_count;
    return &s->cells[s->cell_count++];
}

/* Return the counts of SITE that whole stacks recorded, without estimates of samples. */
static int64_t
sampled_allocations(const struct profile *p, size_t site)
{
    return counters_difference(p->sites[site].counters.allocations,
                               (int64_t)profile_site_errors(p, site)->allocated.blocks);
}

/* Find the cells, and the whole stacks of each. */
static void
find_cells(struct spreader *s)
{
    struct profile *p = s->p;

    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];

        if (s->is_short[site->node] && site->callers != 0) {
            struct cell *c = callers_cell(s, group_of_short(s, site->node), site, true);

            c->site = (uint32_t)i;
            s->cell_of_site[i] = (uint32_t)(c - s->cells) + 1;
        }
    }
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];
        uint32_t group = s->is_short[site->node] || site->callers == 0
                             ? 0
                             : callers_group_of_whole(s, site->node);
        struct cell *c = group != 0 ? callers_cell(s, group, site, false) : NULL;

        if (c == NULL || sampled_allocations(p, i) <= 0)
            continue;
        arena_grow(&s->arena, &c->members, &c->capacity, c->count, sizeof *c->members);
        c->members[c->count++] = (uint32_t)i;
    }
}

/* --- Fractions -------------------------------------------------------------------------------- */

int64_t
callers_value(const struct counters *c, enum column column)
{
    switch (column) {
    case COLUMN_ALLOCATIONS:
        return c->allocations;
    case COLUMN_ALLOCATED_BYTES:
        return c->allocated_bytes;
    case COLUMN_LIVE_BLOCKS:
        return counters_live_blocks(c);
    case COLUMN_LIVE_BYTES:
        return counters_live_bytes(c);
    case COLUMN_PEAK_BLOCKS:
        return c->peak_blocks;
    case COLUMN_PEAK_BYTES:
        return c->peak_bytes;
    case COLUMN_REALLOCATIONS:
        return c->reallocations;
    case COLUMN_MOVED:
        return c->moved;
    case COLUMN_GROWN_BYTES:
        return c->grown_bytes;
    case COLUMN_TEMPORARY:
        return c->temporary;
    case COLUMN_ENDED_16:
        return c->ended_16;
    case COLUMN_ENDED_256:
        return c->ended_256;
    default:
        return 0;
    }
}

double
callers_sampled(const struct spreader *s, const struct cell *c, size_t i, enum column column)
{
    int64_t value = callers_value(&s->p->sites[c->members[i]].counters, column);

    return value > 0 ? (double)value : 0;
}

/* Lower the fractions of live blocks, so that no stack has more of them than allocations. */
static void
bound_live(const struct spreader *s, const struct cell *c, double *live, const double *all,
           enum column of_live)
{
    const struct counters *k = &s->p->sites[c->site].counters;
    double limit = (double)callers_value(k, (enum column)(of_live - 2)), sum = 0;
    double amount = (double)callers_value(k, of_live);

    for (size_t i = 0; i < c->count; i++) {
        double most = amount > 0 ? all[i] * limit / amount : 1;

        if (live[i] > most)
            live[i] = most;
        sum += live[i];
    }
    for (size_t i = 0; i < c->count && sum < 1; i++) { // The rest, to where there is room.
        double most = amount > 0 ? all[i] * limit / amount : 1;
        double more = most - live[i] < 1 - sum ? most - live[i] : 1 - sum;

        if (more > 0) {
            live[i] += more;
            sum += more;
        }
    }
}

/* Compute the fractions of C's members of COLUMN: FRACTIONS[i]. ALL are for a count without whole
 * stacks. */
static void
take_fractions(const struct spreader *s, const struct cell *c, enum column column,
               const double *all, double *fractions)
{
    double sum = 0;

    for (size_t i = 0; i < c->count; i++)
        sum += callers_sampled(s, c, i, column);
    for (size_t i = 0; i < c->count; i++)
        fractions[i] = sum > 0 ? callers_sampled(s, c, i, column) / sum : all[i];
    if ((column == COLUMN_LIVE_BLOCKS || column == COLUMN_LIVE_BYTES) && sum > 0)
        bound_live(s, c, fractions, all, column);
}

static void
take_boundaries(struct spreader *s, struct cell *c)
{
    double *fractions[COLUMNS] = {NULL};

    for (int k = 0; k < COLUMNS; k++) {
        // Bytes are rather distributed like other bytes.
        bool bytes =
            k == COLUMN_LIVE_BYTES || k == COLUMN_PEAK_BYTES || k == COLUMN_GROWN_BYTES;
        const double *all = fractions[bytes ? COLUMN_ALLOCATED_BYTES : COLUMN_ALLOCATIONS];
        double *b = arena_array(&s->arena, c->count + 1, sizeof *b);

        fractions[k] = arena_array(&s->arena, c->count, sizeof *fractions[k]);
        take_fractions(s, c, (enum column)k, all, fractions[k]);
        for (size_t i = 0; i < c->count; i++)
            b[i + 1] = b[i] + fractions[k][i];
        b[c->count] = 1;
        c->boundaries[k] = b;
    }
}

bool
callers_find_cells(struct spreader *s)
{
    struct profile *p = s->p;

    if (!find_short(s))
        return false;
    s->place_count = s->place_capacity = 1; // Place 0 is inside all frames.
    s->groups = arena_array(&s->arena, 1, sizeof *s->groups);
    s->group_of = arena_array(&s->arena, p->node_count, sizeof *s->group_of);
    s->cell_of_site = arena_array(&s->arena, p->site_count, sizeof *s->cell_of_site);
    find_cells(s);
    for (size_t i = 0; i < s->cell_count; i++) {
        p->has_callerless |= s->cells[i].count == 0;
        if (s->cells[i].count > 0)
            take_boundaries(s, &s->cells[i]);
    }
    return true;
}

int64_t
callers_share_of(const struct cell *c, size_t i, enum column column, int64_t done, int64_t amount)
{
    const double *b = c->boundaries[column];
    int64_t after = counters_sum(done, amount);

    return counters_difference(
        counters_difference(callers_cut(b[i + 1], after), callers_cut(b[i], after)),
        counters_difference(callers_cut(b[i + 1], done), callers_cut(b[i], done)));
}

struct counters
callers_share(const struct cell *c, size_t i, const struct counters *k)
{
    struct counters r = {.size_min = k->size_min,
                         .size_max = k->size_max,
                         .partial = k->partial,
                         .lifetimes_unknown = k->lifetimes_unknown};
    int64_t v[COLUMNS];

    for (int n = 0; n < COLUMNS; n++)
        v[n] = callers_share_of(c, i, (enum column)n, c->done[n], callers_value(k, (enum column)n));
    r.allocations = v[COLUMN_ALLOCATIONS];
    r.allocated_bytes = v[COLUMN_ALLOCATED_BYTES];
    r.frees = counters_difference(v[COLUMN_ALLOCATIONS], v[COLUMN_LIVE_BLOCKS]);
    r.freed_bytes = counters_difference(v[COLUMN_ALLOCATED_BYTES], v[COLUMN_LIVE_BYTES]);
    r.peak_blocks = v[COLUMN_PEAK_BLOCKS];
    r.peak_bytes = v[COLUMN_PEAK_BYTES];
    r.reallocations = v[COLUMN_REALLOCATIONS];
    r.moved = v[COLUMN_MOVED];
    r.grown_bytes = v[COLUMN_GROWN_BYTES];
    r.temporary = v[COLUMN_TEMPORARY];
    r.ended_16 = v[COLUMN_ENDED_16];
    r.ended_256 = v[COLUMN_ENDED_256];
    return r;
}

uint32_t
callers_row(struct spreader *s, uint32_t thread, uint32_t site)
{
    struct profile *p = s->p;
    bool is_new;
    uint64_t *known = map_put(&s->rows, (uint64_t)thread << 32 | site, &is_new);

    if (!is_new)
        return (uint32_t)*known;
    *known = p->thread_site_count;
    arena_grow(&p->arena, &p->thread_sites, &s->row_capacity, p->thread_site_count,
               sizeof *p->thread_sites);
    p->thread_sites[p->thread_site_count] = (struct profile_thread_site){thread, site};
    if (p->row_counters != NULL) {
        arena_grow(&p->arena, &p->row_counters, &s->row_counter_capacity, p->thread_site_count,
                   sizeof *p->row_counters);
        p->row_counters[p->thread_site_count] = COUNTERS_ZERO;
    }
    return (uint32_t)p->thread_site_count++;
}
