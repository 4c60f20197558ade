/* merge_tree.c: merge modules, code addresses, stacks and sites of many processes.
 *
 * Modules are equal if their build ids are equal or, without build ids, their paths. An address is
 * transferred as an offset in the module, so processes with different load addresses share stacks.
 * A module keeps its load address in the first input. If another module of the sum is there, it
 * moves to a free range, so that an address belongs to one module, as the formats of other tools
 * require. If several paths have the same build id, the alphabetically first is used, so that the
 * order of inputs does not matter.
 *
 * Code outside of modules (compiled at run time) has addresses that are meaningless in other
 * processes. If the code has a name, equal names are merged, and so are equal named frames. Then
 * the methods of 500 runs are summed, and the result does not grow with the number of runs. Code
 * without a name is merged if addresses are equal. That happens in processes forked after the code
 * was created, and hardly ever in others, because addresses are random. Both kinds get addresses
 * with bit 47 set, where no process has code.
 *
 *     site ─► node ─► location (module + place, or name, or address)
 *              └───► parent node ─► …
 *
 * Nodes are equal if parents, locations and flags are equal. Only nodes on the path of a site, a
 * backing, an unknown free or a corruption are transferred. Sites are equal if merge_tree_site_key
 * returns equal keys.
 *
 * The ids of a file are limited. Code of further modules keeps its name but has no module. Further
 * nodes and sites are counted at the site "other". */
#include "merge/merger.h"

#include <stdio.h>
#include <string.h>

#include "format/format.h"
#include "util/strbuf.h"

enum {
    // Maximum number of modules. It is half of what a frame can hold, because exact frames have one
    // bit less.
    MODULES_MAX = 1 << 15,
    NODES_MAX = 1 << 27,
    SITES_MAX = (1 << 22) - 8, // Readers reject larger ids.
    MODULE_GAP_BYTES = 1 << 20,
    CODE_STEP_BYTES = 16,
};

#define MODULE_BYTES_MAX (UINT64_C(1) << 44)
// Moved modules begin here, above all executables and below all libraries.
#define MODULE_MOVED_FIRST (UINT64_C(1) << 44)
#define ADDRESS_END (UINT64_C(1) << 47)        // End of the range for modules.
#define CODE_BIT ADDRESS_END
// Addresses of named code are assigned downwards from here, in the range of stacks.
#define CODE_NAMED_LAST (DISK_ADDRESS_MASK + 1)

enum { NODE_ROOT = 0, NODE_OTHER_ID = 1 };

void
merge_tree_init(struct merge *m)
{
    struct profile *p = m->p;

    arena_grow(&p->arena, &p->modules, &m->module_capacity, 0, sizeof *p->modules);
    p->modules[0].path = "";
    p->module_count = 1;
    arena_grow(&p->arena, &p->locations, &m->location_capacity, 0, sizeof *p->locations);
    p->location_count = 1;
    arena_grow(&p->arena, &p->nodes, &m->node_capacity, 1, sizeof *p->nodes);
    p->nodes[NODE_OTHER_ID].flags = NODE_OTHER;
    p->node_count = 2;
    m->module_next = MODULE_MOVED_FIRST;
    m->code_next = CODE_NAMED_LAST;
}

/* Return the id in M of the path of FROM, a module of IN. */
static uint32_t
merge_path(struct merge *m, struct merge_input *in, const struct profile_module *from)
{
    bool is_new;
    uint64_t *known = map_put(&in->paths, (uintptr_t)from->path, &is_new);

    if (is_new)
        *known = strtab_id(&m->p->strings, from->path);
    return (uint32_t)*known;
}

/* Return the key of a module; modules with equal keys are merged. */
static uint64_t
module_key(struct merge *m, const struct profile_module *from, uint32_t path)
{
    char hex[2 * PROFILE_BUILD_ID_MAX + 1];

    if (from->build_id_bytes == 0)
        return path;
    for (uint32_t i = 0; i < from->build_id_bytes; i++)
        snprintf(hex + 2 * (size_t)i, 3, "%02x", from->build_id[i]);
    return UINT64_C(1) << 32 | strtab_id(&m->build_ids, hex);
}

/* Return a module of P that overlaps [START, END), or NULL. */
static const struct profile_module *
module_in(const struct profile *p, uint64_t start, uint64_t end)
{
    for (size_t i = 1; i < p->module_count; i++)
        if (start < p->modules[i].end && p->modules[i].start < end)
            return &p->modules[i];
    return NULL;
}

/* Return a start address for a module of SIZE_BYTES that was at START; 0 if there is no room. */
static uint64_t
place_module(struct merge *m, uint64_t start, uint64_t size_bytes)
{
    const struct profile_module *existing;
    uint64_t next = m->module_next;

    if (start + size_bytes <= ADDRESS_END && module_in(m->p, start, start + size_bytes) == NULL)
        return start;
    // Keep the offset within a page.
    next += start % DISK_PAGE_BYTES;
    while (next + size_bytes <= ADDRESS_END &&
           (existing = module_in(m->p, next, next + size_bytes)) != NULL)
        next = round_up(existing->end, DISK_PAGE_BYTES) + start % DISK_PAGE_BYTES;
    if (next + size_bytes > ADDRESS_END) {
        // Only a forged file has so many modules. Searching past all of them again for each further
        // module would take quadratic time.
        m->module_next = ADDRESS_END;
        return 0;
    }
    m->module_next = round_up(next + size_bytes + MODULE_GAP_BYTES, DISK_PAGE_BYTES);
    return next;
}

static uint32_t
new_module(struct merge *m, const struct profile_module *from, uint32_t path)
{
    struct profile *p = m->p;
    uint64_t start = place_module(m, from->start, from->end - from->start);
    struct profile_module *to;

    if (start == 0 || p->module_count >= MODULES_MAX)
        return 0;
    arena_grow(&p->arena, &p->modules, &m->module_capacity, p->module_count, sizeof *p->modules);
    to = &p->modules[p->module_count];
    *to = *from;
    to->start = start;
    to->end = start + (from->end - from->start);
    to->bias = from->bias + (start - from->start);
    to->path = strtab_get(&p->strings, path);
    if (from->trouble != NULL) // The text is copied, because it belongs to FROM's profile.
        to->trouble = arena_strdup(&p->arena, from->trouble);
    return (uint32_t)p->module_count++;
}

/* Merge FROM's facts into TO, the same module of the sum. */
static void
same_module(struct profile_module *to, const struct profile_module *from, const char *path)
{
    to->unloaded = to->unloaded && from->unloaded;
    to->symbols = from->symbols < to->symbols ? from->symbols : to->symbols;
    if (path != to->path && *path != '\0' && (*to->path == '\0' || strcmp(path, to->path) < 0))
        to->path = path;
}

void
merge_modules(struct merge *m, struct merge_input *in)
{
    in->modules = arena_array(&in->arena, in->p->module_count, sizeof *in->modules);
    for (size_t i = 1; i < in->p->module_count; i++) {
        const struct profile_module *from = &in->p->modules[i];
        uint32_t path;
        uint64_t *known;
        bool is_new;

        if (from->end <= from->start || from->end - from->start > MODULE_BYTES_MAX ||
            (from->build_id_bytes == 0 && *from->path == '\0'))
            continue;
        path = merge_path(m, in, from);
        known = map_put(&m->modules, module_key(m, from, path), &is_new);
        if (is_new)
            *known = new_module(m, from, path);
        else if (*known != 0)
            same_module(&m->p->modules[*known], from, strtab_get(&m->p->strings, path));
        in->modules[i] = (uint32_t)*known;
    }
}

static uint32_t
new_location(struct merge *m, uint64_t address, uint32_t module, bool exact)
{
    struct profile *p = m->p;

    arena_grow(&p->arena, &p->locations, &m->location_capacity, p->location_count,
               sizeof *p->locations);
    p->locations[p->location_count] =
        (struct profile_location){.address = address, .module = module, .exact = exact};
    return (uint32_t)p->location_count++;
}

/* Return the slot of the location with this address. The key is the same as in a reader of the
 * file. */
static uint64_t *
location_slot(struct merge *m, uint64_t address, uint32_t module, bool exact)
{
    uint64_t frame = address | (uint64_t)module << DISK_ADDRESS_BITS;

    return map_put(&m->locations, frame ^ (uint64_t)exact << 63, NULL);
}

static uint32_t
location_at(struct merge *m, uint64_t address, uint32_t module, bool exact)
{
    uint64_t *known = location_slot(m, address, module, exact);

    if (*known == 0)
        *known = new_location(m, address, module, exact);
    return (uint32_t)*known;
}

static bool
merge_tree_has_name(const struct profile *p, const struct profile_location *l)
{
    return l->frame_count > 0 && p->frames[l->first_frame].function != 0;
}

/* Return the id of the location of code outside of the sum's modules, found by its name or its
 * address. */
static uint32_t
code_location(struct merge *m, struct merge_input *in, const struct profile_location *l)
{
    const struct profile *p = in->p;
    struct strbuf name = {0};
    uint64_t *known;

    if (!merge_tree_has_name(p, l))
        return location_at(m, l->address | CODE_BIT, 0, l->exact);
    for (uint32_t i = 0; i < l->frame_count; i++) {
        const struct profile_frame *f = &p->frames[l->first_frame + i];

        strbuf_fmt(&name, "%u,%u,%u,%u;", merge_string(m, in, f->function),
                   merge_string(m, in, f->file), f->line, merge_string(m, in, f->language));
    }
    strbuf_str(&name, l->exact ? "exact" : "");
    known = map_put(&m->code, strtab_id(&m->code_names, strbuf_text(&name)), NULL);
    while (*known == 0) {
        uint64_t *slot = location_slot(m, m->code_next -= CODE_STEP_BYTES, 0, l->exact);

        if (*slot == 0)
            *slot = *known = new_location(m, m->code_next, 0, l->exact);
    }
    strbuf_release(&name);
    return (uint32_t)*known;
}

/* Return the address in the sum's module TO of the code at ADDRESS in FROM. In a damaged file
 * ADDRESS may be outside of FROM; then return any valid address. */
static uint64_t
moved_address(uint64_t address, const struct profile_module *from, const struct profile_module *to)
{
    uint64_t moved = (address - from->bias + to->bias) & DISK_ADDRESS_MASK;

    return moved != 0 ? moved : 1;
}

/* Return a rank of the detail known of the code at L; higher = more. */
static int
detail(const struct profile *p, const struct profile_location *l)
{
    const struct profile_frame *f;

    if (l->frame_count == 0)
        return 0;
    f = &p->frames[l->first_frame];
    return 1 + (f->function != 0) + (f->file != 0);
}

/* Copy the frames of FROM if they have more detail. The sum thus has the symbols of any host that
 * has debug information. */
static void
take_frames(struct merge *m, struct merge_input *in, const struct profile_location *from,
            struct profile_location *to)
{
    if (detail(in->p, from) <= detail(m->p, to))
        return;
    to->first_frame = (uint32_t)m->p->frame_count;
    to->frame_count = from->frame_count;
    to->function_start = from->function_start != 0 && to->module != 0
                             ? from->function_start - from->address + to->address
                             : 0;
    for (uint32_t i = 0; i < from->frame_count; i++) {
        struct profile_frame f = in->p->frames[from->first_frame + i];

        f.function = merge_string(m, in, f.function);
        f.linkage = merge_string(m, in, f.linkage);
        f.file = merge_string(m, in, f.file);
        f.language = merge_string(m, in, f.language);
        f.module = to->module;
        profile_add_frame(m->p, &f);
    }
}

static uint32_t
merge_location(struct merge *m, struct merge_input *in, uint32_t id)
{
    const struct profile_location *from = &in->p->locations[id];
    uint32_t module = in->modules[from->module], to;

    if (id == 0 || in->locations[id] != 0)
        return in->locations[id];
    if (module != 0)
        to = location_at(
            m, moved_address(from->address, &in->p->modules[from->module], &m->p->modules[module]),
            module, from->exact);
    else
        to = code_location(m, in, from);
    take_frames(m, in, from, &m->p->locations[to]);
    m->p->locations[to].runtime |= from->runtime;
    in->locations[id] = to;
    return to;
}

static uint32_t
node_at(struct merge *m, uint32_t parent, uint32_t location, uint32_t flags)
{
    struct profile *p = m->p;
    uint64_t *known, key;
    bool is_new;

    // Nodes that find no room become "other", and so do their callees.
    if (parent == NODE_OTHER_ID)
        return NODE_OTHER_ID;
    // Four flags fit into 4 bits: NODE_SHORTENED gets the bit of NODE_OTHER, whose only node is not
    // in the map.
    static_assert(NODE_SHORTENED == NODE_OTHER << 2, "the key");
    key = (uint64_t)(flags | (flags & NODE_SHORTENED) >> 2) << 60;
    // There are fewer locations than 2^30.
    key |= flags & NODE_CALLERLESS ? UINT64_C(1) << 31 : 0;
    key |= flags & NODE_NO_TABLE ? UINT64_C(1) << 30 : 0;
    known = map_put(&m->nodes, key | (uint64_t)parent << 32 | location, &is_new);
    if (is_new && p->node_count >= NODES_MAX)
        *known = NODE_OTHER_ID;
    if (is_new && *known == 0) {
        arena_grow(&p->arena, &p->nodes, &m->node_capacity, p->node_count, sizeof *p->nodes);
        p->nodes[p->node_count] = (struct profile_node){parent, location, flags};
        *known = p->node_count++;
    }
    return (uint32_t)*known;
}

/* Return, by node of P, true if the node is in use. */
static bool *
nodes_in_use(const struct profile *p, struct arena *arena)
{
    bool *used = arena_array(arena, p->node_count, sizeof *used);

    for (size_t i = 0; i < p->site_count; i++)
        used[p->sites[i].node] = true;
    for (size_t i = 0; i < p->backing_count; i++)
        used[p->backings[i].node] = true;
    for (size_t i = 0; i < p->unknown_free_count; i++) {
        used[p->unknown_frees[i].node] = true;
        used[p->unknown_frees[i].site_node] = true;
    }
    for (size_t i = 0; i < p->corruption_count; i++) {
        used[p->corruptions[i].node] = true;
        used[p->corruptions[i].site_node] = true;
        used[p->corruptions[i].front_node] = true;
    }
    for (size_t i = p->node_count; i-- > 1;)
        if (used[i])
            used[p->nodes[i].parent] = true;
    return used;
}

void
merge_nodes(struct merge *m, struct merge_input *in)
{
    const struct profile *p = in->p;
    const bool *used = nodes_in_use(p, &in->arena);

    in->locations = arena_array(&in->arena, p->location_count, sizeof *in->locations);
    in->nodes = arena_array(&in->arena, p->node_count, sizeof *in->nodes);
    for (size_t i = 1; i < p->node_count; i++) {
        const struct profile_node *n = &p->nodes[i];

        if (n->flags & NODE_OTHER)
            in->nodes[i] = NODE_OTHER_ID;
        else if (used[i])
            in->nodes[i] =
                node_at(m, in->nodes[n->parent], merge_location(m, in, n->location), n->flags);
    }
}

/* Return the key of a site; sites with equal keys are merged. */
static uint64_t
merge_tree_site_key(const struct profile_site *s)
{
    return ((uint64_t)s->node * DISK_SIZE_CLASSES + s->size_class) << 32 |
           (uint64_t)s->callers << 28 | (uint64_t)s->heap << 16 | s->labels;
}

/* Return true if S is one of the "other" sites that each file has. They belong to malloc without
 * labels. */
static bool
is_other(const struct profile_site *s)
{
    return s->node == NODE_OTHER_ID && s->heap == 0 && s->labels == 0 && s->callers == 0;
}

/* Return the index of the site equal to LIKE, added if new; without room, the index of "other". */
static uint32_t
merge_tree_site_at(struct merge *m, struct profile_site like)
{
    struct profile *p = m->p;
    uint64_t *known;
    bool is_new;

    if (p->site_count >= SITES_MAX && map_get(&m->sites, merge_tree_site_key(&like)) == NULL)
        like = (struct profile_site){
            .node = NODE_OTHER_ID, .size_class = like.size_class, .counters = COUNTERS_ZERO};
    known = map_put(&m->sites, merge_tree_site_key(&like), &is_new);
    if (!is_new)
        return (uint32_t)*known;
    arena_grow(&p->arena, &p->sites, &m->site_capacity, p->site_count, sizeof *p->sites);
    like.id = is_other(&like) ? like.size_class + 1U : DISK_SITE_FIRST + (uint32_t)p->site_count;
    p->sites[p->site_count] = like;
    *known = p->site_count++;
    return (uint32_t)*known;
}

/* Merge a type: the more certain verdict wins. If two types are equally certain, the type is
 * unknown. */
static void
merge_type(struct profile_site *to, uint32_t verdict, uint32_t type)
{
    if (verdict > to->verdict) {
        to->verdict = verdict;
        to->type = type;
    } else if (verdict == to->verdict && type != to->type) {
        to->type = 0;
    }
}

/* Add to SUM the values of the whole run that FROM, a site of a cut profile, has kept. */
static void
add_whole(struct profile_site *sum, const struct profile_site *from)
{
    sum->whole_peak_bytes = counters_sum(sum->whole_peak_bytes, from->whole_peak_bytes);
    sum->whole_allocated_bytes =
        counters_sum(sum->whole_allocated_bytes, from->whole_allocated_bytes);
    if (from->whole_size_min < sum->whole_size_min)
        sum->whole_size_min = from->whole_size_min;
    if (from->whole_size_max > sum->whole_size_max)
        sum->whole_size_max = from->whole_size_max;
}

/* Return the index of P's share INDEX in the sum. Requires room: merge_has_callers. */
static uint32_t
merge_callers(struct merge *m, const struct profile *p, uint32_t index)
{
    return index != 0 ? profile_callers_index(m->p, p->callers_periods[index]) : 0;
}

void
merge_sites(struct merge *m, struct merge_input *in)
{
    const struct profile *p = in->p;

    in->sites = arena_array(&in->arena, p->site_count, sizeof *in->sites);
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *from = &p->sites[i];
        uint32_t to = merge_tree_site_at(
            m, (struct profile_site){.node = in->nodes[from->node],
                                     .size_class = from->size_class % DISK_SIZE_CLASSES,
                                     .heap = in->heaps[from->heap],
                                     .labels = in->label_sets[from->labels],
                                     .callers = merge_callers(m, p, from->callers),
                                     .whole_size_min = SIZE_MIN_NONE,
                                     .counters = COUNTERS_ZERO});

        in->sites[i] = to;
        if (p->extent != EXTENT_WHOLE)
            add_whole(&m->p->sites[to], from);
        if (p->site_errors != NULL) {
            struct errors errors = *profile_site_errors(p, i);

            errors_close(&errors); // Another input may have a group of the same number.
            errors_add(profile_change_site_errors(m->p, to), &errors);
        }
        merge_type(&m->p->sites[to], from->verdict, merge_string(m, in, from->type));
    }
}

void
merge_unknown_frees(struct merge *m, struct merge_input *in)
{
    struct profile *p = m->p;

    for (size_t i = 0; i < in->p->unknown_free_count; i++) {
        struct profile_unknown_free f = in->p->unknown_frees[i];
        uint64_t key, *known;
        bool is_new;

        f.node = in->nodes[f.node];
        f.site_node = in->nodes[f.site_node];
        key = (uint64_t)f.kind << 60 | (uint64_t)f.node << 30 | f.site_node;
        known = map_put(&m->frees, key, &is_new);
        if (!is_new) {
            p->unknown_frees[*known].count += f.count;
            continue;
        }
        // A file refers to a stack through a site.
        if (f.site_node != 0)
            merge_tree_site_at(
                m, (struct profile_site){.node = f.site_node, .counters = COUNTERS_ZERO});
        arena_grow(&p->arena, &p->unknown_frees, &m->free_capacity, p->unknown_free_count,
                   sizeof *p->unknown_frees);
        *known = p->unknown_free_count;
        p->unknown_frees[p->unknown_free_count++] = f;
    }
}

/* Add a site for NODE, because a file refers to a block's stack through a site. Without a stack,
 * NODE is 0 and no site is added. Return NODE. */
static uint32_t
with_site(struct merge *m, uint32_t node)
{
    if (node != 0)
        merge_tree_site_at(m, (struct profile_site){.node = node, .counters = COUNTERS_ZERO});
    return node;
}

void
merge_corruptions(struct merge *m, struct merge_input *in)
{
    uint64_t start_ns = in->p->process.start_unix_ns;
    struct profile *p = m->p;

    for (size_t i = 0; i < in->p->corruption_count; i++) {
        struct profile_corruption d = in->p->corruptions[i];

        d.found_ns += start_ns; // Relative to the wall clock, until the first start is known.
        d.whole_ns += start_ns;
        d.node = in->nodes[d.node];
        d.site_node = with_site(m, in->nodes[d.site_node]);
        d.front_node = with_site(m, in->nodes[d.front_node]);
        arena_grow(&p->arena, &p->corruptions, &m->corruption_capacity, p->corruption_count,
                   sizeof *p->corruptions);
        p->corruptions[p->corruption_count++] = d;
    }
}

void
merge_corruptions_finish(struct merge *m)
{
    struct profile *p = m->p;

    for (size_t i = 0; i < p->corruption_count; i++) {
        p->corruptions[i].found_ns -= p->process.start_unix_ns;
        p->corruptions[i].whole_ns -= p->process.start_unix_ns;
    }
    profile_sort_corruptions(p);
}
