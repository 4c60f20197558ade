/* annotated_profile.c: make a profile model (profile/profile.h) of blocks found in memory.
 *
 * The memory shows which blocks are live; all earlier blocks are unknown. Therefore the counters
 * have each block as allocated and live, and the peak is the present state. Lifetimes are unknown.
 *
 * Equal return addresses are one stack. Nodes are built from the outermost frame on, as in a
 * recorded profile, so that stacks share their common part. A stack that fills all places of the
 * annotation may be longer, and is marked as truncated.
 *
 * On ARM, the lowest bit of a return address selects the instruction set and is cleared. */
#include "layout/annotated_profile.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "format/format.h"
#include "profile/raw.h"

enum {
    NODE_OTHERS = 1,
    SITES_MAX = (1 << 22) - 8,  // Readers of files reject larger ids.
    NODES_MAX = 1 << 27,
    MODULES_MAX = 1 << 15,
};

struct maker {
    struct profile *p;
    const struct annotated_memory *m;
    const struct annotated_program *program;
    struct map locations; // By address.
    struct map nodes;     // By parent, location and truncation.
    struct map sites;     // By node and size class.
    size_t location_capacity, node_capacity, site_capacity;
};

static void
annotated_profile_add_module(struct profile *p, const struct annotated_module *m)
{
    const struct elf_facts *facts = m->facts;
    struct profile_module *module;
    uint64_t start = UINT64_MAX, end = 0;

    for (size_t i = 0; i < facts->segment_count; i++) {
        const struct elf_segment *s = &facts->segments[i];

        if (s->type != PT_LOAD || (s->flags & PF_X) == 0 || s->memory_bytes == 0)
            continue;
        start = s->address < start ? s->address : start;
        end = s->address + s->memory_bytes > end ? s->address + s->memory_bytes : end;
    }
    if (start >= end || p->module_count >= MODULES_MAX)
        return;
    module = &p->modules[p->module_count++];
    *module = (struct profile_module){
        .start = start + m->bias,
        .end = end + m->bias,
        .bias = m->bias,
        .path = strtab_get(&p->strings, strtab_id(&p->strings, m->path)),
        .build_id_bytes = facts->build_id_bytes,
    };
    memcpy(module->build_id, facts->build_id, facts->build_id_bytes);
    if (module->end < module->start)
        module->end = module->start;
}

static int
annotated_profile_by_start(const void *a, const void *b)
{
    const struct profile_module *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static void
make_modules(struct maker *k)
{
    struct profile *p = k->p;

    p->modules = arena_array(&p->arena, k->program->module_count + 1, sizeof *p->modules);
    p->modules[0].path = "";
    p->module_count = 1;
    for (size_t i = 0; i < k->program->module_count; i++)
        annotated_profile_add_module(p, &k->program->modules[i]);
    if (p->module_count > 2)
        qsort(p->modules + 1, p->module_count - 1, sizeof *p->modules, annotated_profile_by_start);
}

/* Return the module of the call that returns to ADDRESS, or 0. */
static uint32_t
module_at(const struct profile *p, uint64_t address)
{
    size_t low = 1, high = p->module_count;

    // A return address may be the first address past a module.
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (p->modules[middle].start < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 1 && address <= p->modules[low - 1].end ? (uint32_t)low - 1 : 0;
}

static uint32_t
location_of(struct maker *k, uint64_t address)
{
    struct profile *p = k->p;
    bool is_new;
    uint64_t *known;

    if (k->program->machine == EM_ARM)
        address &= ~UINT64_C(1);
    address &= DISK_ADDRESS_MASK;
    known = map_put(&k->locations, address, &is_new);
    if (!is_new)
        return (uint32_t)*known;
    *known = p->location_count;
    arena_grow(&p->arena, &p->locations, &k->location_capacity, p->location_count,
               sizeof *p->locations);
    p->locations[p->location_count++] =
        (struct profile_location){.address = address, .module = module_at(p, address)};
    return (uint32_t)*known;
}

static uint32_t
annotated_profile_add_node(struct maker *k, uint32_t parent, uint32_t location, uint32_t flags)
{
    struct profile *p = k->p;

    arena_grow(&p->arena, &p->nodes, &k->node_capacity, p->node_count, sizeof *p->nodes);
    p->nodes[p->node_count] =
        (struct profile_node){.parent = parent, .location = location, .flags = flags};
    return (uint32_t)p->node_count++;
}

static uint32_t
node_below(struct maker *k, uint32_t parent, uint32_t location, uint32_t flags)
{
    uint64_t key = (uint64_t)parent << 33 | (uint64_t)location << 1 | (flags != 0);
    bool is_new;
    uint64_t *known = map_put(&k->nodes, key, &is_new);

    if (is_new)
        *known = annotated_profile_add_node(k, parent, location, flags);
    return (uint32_t)*known;
}

/* Return the node of STACK. IS_CUT is true if the stack may be longer. */
static uint32_t
node_of_stack(struct maker *k, uint32_t stack, bool is_cut)
{
    const uint64_t *frames;
    size_t depth = annotated_stack(k->m, stack, &frames);
    uint32_t node = 0;

    if (depth == 0 || k->p->node_count + depth > NODES_MAX)
        return NODE_OTHERS;
    for (size_t i = depth; i-- > 0;)
        node = node_below(k, node, location_of(k, frames[i]),
                          is_cut && i + 1 == depth ? (uint32_t)NODE_TRUNCATED : 0);
    return node;
}

static uint32_t
places_of(const struct annotated_memory *m, const struct annotated_block *b)
{
    return (b->head_bytes - 16) / annotation_word_bytes(m->kind) - 1 - b->has_birth - b->has_thread;
}

static uint16_t
size_class(uint64_t size)
{
    return size <= 32 ? 0 : size <= 256 ? 1 : size <= 2048 ? 2 : 3;
}

static uint32_t
site_of_block(struct maker *k, uint32_t node, uint64_t size)
{
    struct profile *p = k->p;
    uint16_t class = size_class(size);
    bool is_new;
    uint64_t *known;

    if (p->site_count >= SITES_MAX)
        node = NODE_OTHERS;
    known = map_put(&k->sites, (uint64_t)node << 2 | class, &is_new);
    if (!is_new)
        return (uint32_t)*known;
    *known = p->site_count;
    arena_grow(&p->arena, &p->sites, &k->site_capacity, p->site_count, sizeof *p->sites);
    p->sites[p->site_count++] =
        (struct profile_site){.node = node, .size_class = class, .counters = COUNTERS_ZERO};
    return (uint32_t)*known;
}

/* Assign the ids of a file: "other" by size class, all other sites densely. */
static void
number_sites(struct profile *p)
{
    uint32_t next = DISK_SITE_FIRST;

    for (size_t i = 0; i < p->site_count; i++)
        p->sites[i].id =
            p->sites[i].node == NODE_OTHERS ? p->sites[i].size_class + 1U : next++;
}

static struct counters
annotated_profile_count_block(uint64_t size)
{
    return (struct counters){.allocations = 1,
                             .allocated_bytes = (int64_t)size,
                             .peak_blocks = 1,
                             .peak_bytes = (int64_t)size,
                             .size_min = size,
                             .size_max = size};
}

static void
make_bins(struct profile *p)
{
    p->bin_count = DISK_EXACT_BINS + DISK_RANGE_BINS;
    p->bins = arena_array(&p->arena, p->bin_count, sizeof *p->bins);
    for (size_t i = 0; i < p->bin_count; i++) {
        uint32_t bit = DISK_RANGE_FIRST_BIT + (uint32_t)(i - DISK_EXACT_BINS);
        bool is_exact = i < DISK_EXACT_BINS;

        p->bins[i].size_min = is_exact ? i : (UINT64_C(1) << bit) + 1;
        p->bins[i].size_max = is_exact ? i : UINT64_C(1) << (bit + 1);
        p->bins[i].counters = COUNTERS_ZERO;
        counters_clear_lifetimes(&p->bins[i].counters);
    }
    p->bins[p->bin_count - 1].size_max = UINT64_MAX;
}

static void
add_to_bin(struct profile *p, uint64_t size)
{
    struct counters *c = size < DISK_EXACT_BINS
                             ? &p->bins[size].counters
                             : &p->bins[DISK_EXACT_BINS + disk_range_bin(size)].counters;

    c->allocations++;
    c->allocated_bytes = counters_sum(c->allocated_bytes, (int64_t)size);
}

static void
make_sites(struct maker *k, struct annotated_places *ret)
{
    const struct annotated_memory *m = k->m;
    struct profile *p = k->p;

    ret->site_of = arena_array(&p->arena, m->count, sizeof *ret->site_of);
    ret->node_of = arena_array(&p->arena, m->stack_count, sizeof *ret->node_of);
    for (size_t i = 0; i < m->count + m->corruption_count; i++) {
        const struct annotated_block *b =
            i < m->count ? &m->v[i] : &m->corruptions[i - m->count].block;
        const uint64_t *frames;
        struct counters c = annotated_profile_count_block(b->size);

        if (ret->node_of[b->stack] == 0)
            ret->node_of[b->stack] = node_of_stack(
                k, b->stack,
                b->head_bytes != 0 &&
                    annotated_stack(m, b->stack, &frames) == places_of(m, b));
        if (i >= m->count)
            continue;
        p->frames_kept = places_of(m, b) > p->frames_kept ? places_of(m, b) : p->frames_kept;
        ret->site_of[i] = site_of_block(k, ret->node_of[b->stack], b->size);
        counters_add(&p->sites[ret->site_of[i]].counters, &c);
        add_to_bin(p, b->size);
    }
    number_sites(p);
}

/* Make one row for all blocks, because threads are not known. */
static void
make_thread(struct profile *p)
{
    p->threads = arena_alloc(&p->arena, sizeof *p->threads);
    p->thread_count = 1;
    p->threads[0] = (struct profile_thread){.name = "", .uses = 1, .counters = COUNTERS_ZERO};
    p->thread_sites = arena_array(&p->arena, p->site_count, sizeof *p->thread_sites);
    p->thread_site_count = p->site_count;
    for (size_t i = 0; i < p->site_count; i++) {
        const struct counters *c = &p->sites[i].counters;

        p->thread_sites[i] = (struct profile_thread_site){0, (uint32_t)i};
        counters_add(&p->threads[0].counters, c);
        counters_add(&p->totals, c);
    }
}

static void
make_owners(struct profile *p)
{
    p->heaps = arena_alloc(&p->arena, sizeof *p->heaps);
    p->heaps[0].name = "malloc";
    p->heap_count = 1;
    p->label_sets = arena_alloc(&p->arena, sizeof *p->label_sets);
    p->label_sets[0].text = "";
    p->label_set_count = 1;
    p->modes = arena_alloc(&p->arena, sizeof *p->modes);
    p->modes[0].mode = MODE_EXACT;
    p->mode_count = 1;
}

struct profile *
annotated_profile(const struct annotated_memory *m, const struct annotated_program *program,
                  const char *title, uint64_t when_ns, struct annotated_places *ret)
{
    struct profile *p = xmalloc(sizeof *p);
    struct maker k = {.p = p, .m = m, .program = program};

    *p = (struct profile){.totals = COUNTERS_ZERO};
    strtab_id(&p->strings, "");
    p->path = arena_strdup(&p->arena, title);
    p->process = (struct profile_process){
        .command = p->path,
        .executable = program->path != NULL ? arena_strdup(&p->arena, program->path) : "",
        .kernel = "",
        .heaptap = HEAPTAP_VERSION,
        .machine = raw_machine_name(program->machine),
        .start_unix_ns = when_ns,
        .ended = true,
    };
    make_modules(&k);
    arena_grow(&p->arena, &p->locations, &k.location_capacity, 0, sizeof *p->locations);
    p->location_count = 1;
    annotated_profile_add_node(&k, 0, 0, 0);
    annotated_profile_add_node(&k, 0, 0, NODE_OTHER);
    make_bins(p);
    make_owners(p);
    make_sites(&k, ret);
    make_thread(p);
    profile_sum_heaps(p);
    profile_clear_lifetimes(p);
    map_release(&k.locations);
    map_release(&k.nodes);
    map_release(&k.sites);
    return p;
}
