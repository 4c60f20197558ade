/* write_model.c: make the tables of a file from a model, as the inverse of load.c.
 *
 * A model has less data than a recorder's file. It has no epochs, because each counter has its
 * share of the peak: all counters and the header get epoch 1. It has no bins by thread: one record
 * of bins is shared by all threads. It has some counts only as sums over threads: these go into the
 * first thread's row.
 *
 * Nodes keep their order, so parents come first. The file has two more nodes before them (format.md
 * 4.3), for unknown callers. */
#include "profile/pack.h"

#include <stdlib.h>
#include <string.h>

#include "profile/profile_valid.h"
#include "profile/raw.h"
#include "profile/writer.h"
#include "util/ensure.h"

enum {
    EPOCH = 1,
    NODE_FIRST = 2, // First node of the model after the root and "other".
    CLOCK_NS = 1000000000,
};

static void
write_model_write_modules(struct writer *w)
{
    const struct profile *p = w->p;
    struct disk_module *d = arena_array(&w->arena, p->module_count, sizeof *d);

    for (size_t i = 1; i < p->module_count; i++) {
        const struct profile_module *m = &p->modules[i];

        d[i] = (struct disk_module){
            .id = (uint32_t)i,
            .build_id_bytes = m->build_id_bytes,
            .start = m->start,
            .end = m->end,
            .bias = m->bias,
            .path = write_text(w, m->path),
            .loaded = 1,
            .unloaded = m->unloaded,
            .symbols = m->symbols,
        };
        memcpy(d[i].build_id, m->build_id, m->build_id_bytes);
    }
    write_table(w, DISK_MODULES, d, p->module_count * sizeof *d, sizeof *d);
}

/* The file's nodes above shortened and above short stacks, and after them the first node that comes
 * from a model. */
enum { NODE_SHORT = DISK_NODE_FIRST, NODE_SITES, DISK_FIRST };

static uint32_t
disk_node_id(uint32_t node)
{
    return node < NODE_FIRST ? node : node - NODE_FIRST + DISK_FIRST;
}

/* First record for the model's named frames. Record 1 of a file represents frames that found no
 * room. */
enum { NAMED_FIRST = 2 };

/* Write the named frames. Return the index of each location's record, by location; 0 = not a named
 * frame. */
static uint32_t *
write_named(struct writer *w)
{
    const struct profile *p = w->p;
    uint32_t *record_of = arena_array(&w->arena, p->location_count, sizeof *record_of);
    struct disk_named *d = arena_array(&w->arena, p->location_count + NAMED_FIRST, sizeof *d);
    uint32_t count = NAMED_FIRST;

    for (size_t i = 1; i < p->location_count; i++) {
        const struct profile_frame *f;

        if (profile_language(p, &p->locations[i]) == 0)
            continue;
        f = &p->frames[p->locations[i].first_frame];
        d[count] = (struct disk_named){
            .id = count,
            .line = f->line,
            .function = write_text(w, profile_string(p, f->function)),
            .file = write_text(w, profile_string(p, f->file)),
            .language = write_text(w, profile_string(p, f->language)),
        };
        record_of[i] = count++;
    }
    w->has_named = count > NAMED_FIRST;
    if (w->has_named)
        write_table(w, DISK_NAMED, d, count * sizeof *d, sizeof *d);
    return record_of;
}

static struct disk_node
disk_node_of(const struct profile *p, const struct profile_node *n, const uint32_t *record_of)
{
    const struct profile_location *l = &p->locations[n->location];
    uint32_t record = record_of[n->location];

    return (struct disk_node){
        .frame = record != 0 ? record | (uint64_t)DISK_NAMED_FRAME << DISK_ADDRESS_BITS
                             : l->address | (uint64_t)l->module << DISK_ADDRESS_BITS,
        .parent = n->flags & NODE_SHORTENED   ? (uint32_t)NODE_SHORT
                  : n->flags & NODE_CALLERLESS ? (uint32_t)NODE_SITES
                  : n->flags & NODE_TRUNCATED ? (uint32_t)DISK_NODE_TRUNCATED
                  : n->flags & NODE_BROKEN    ? (uint32_t)DISK_NODE_BROKEN
                                              : disk_node_id(n->parent),
        .flags = (n->flags & (NODE_GUESSED | NODE_NO_TABLE) ? (uint32_t)DISK_NODE_GUESSED : 0) |
                 (l->exact ? (uint32_t)DISK_NODE_EXACT : 0) |
                 (l->runtime ? (uint32_t)DISK_NODE_RUNTIME : 0),
    };
}

/* The nodes of a file under construction; tags come last. */
struct node_table {
    struct disk_node *v;
    size_t count;
    struct map tags; // Index of each tag, by parent, kind and id.
};

/* Return the tag of KIND and ID below PARENT, or PARENT if there is no such tag. NUMBER is
 * different for each ID of one KIND. */
static uint32_t
numbered_tag(struct node_table *t, uint32_t parent, enum disk_tag kind, uint32_t number,
             uint64_t id)
{
    // Kinds differ in their lowest 3 bits, and numbers have 13 bits.
    uint64_t key = (uint64_t)parent << 16 | (uint64_t)(kind & 7) << 13 | number;
    uint64_t *known;

    if (id == 0)
        return parent;
    known = map_put(&t->tags, key, NULL);
    if (*known == 0) {
        t->v[t->count] = (struct disk_node){.frame = (uint64_t)kind << DISK_ADDRESS_BITS | id,
                                            .parent = parent,
                                            .flags = DISK_NODE_TAG};
        *known = t->count++;
    }
    return (uint32_t)*known;
}

static uint32_t
tag_below(struct node_table *t, uint32_t parent, enum disk_tag kind, uint32_t id)
{
    return numbered_tag(t, parent, kind, id, id);
}

/* Return the id of the site for backing I. Ids of other sites are smaller. */
static uint32_t
backing_site(const struct profile *p, size_t i)
{
    return DISK_SITE_FIRST + (uint32_t)(p->site_count + i);
}

static void
write_tags(struct writer *w, struct node_table *t)
{
    const struct profile *p = w->p;

    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *s = &p->sites[i];
        uint32_t node = numbered_tag(t, disk_node_id(s->node), DISK_TAG_CALLERS, s->callers,
                                     p->callers_periods[s->callers]);

        w->has_callers |= s->callers != 0;
        node = tag_below(t, node, DISK_TAG_LABELS, s->labels);
        t->v[tag_below(t, node, DISK_TAG_HEAP, s->heap)].site[s->size_class] = s->id;
    }
    for (size_t i = 0; i < p->backing_count; i++) {
        uint32_t node = disk_node_id(p->backings[i].node);

        t->v[tag_below(t, node, DISK_TAG_BACKING, p->backings[i].heap)].site[0] =
            backing_site(p, i);
    }
}

static void
write_nodes(struct writer *w)
{
    const struct profile *p = w->p;
    size_t nodes = p->node_count - NODE_FIRST + DISK_FIRST;
    size_t count_max = nodes + 3 * p->site_count + p->backing_count;
    struct node_table t = {arena_array(&w->arena, count_max, sizeof *t.v), nodes, {0}};
    const uint32_t *record_of = write_named(w);

    for (uint32_t c = 0; c < DISK_SIZE_CLASSES; c++)
        t.v[DISK_NODE_OTHER].site[c] = c + 1;
    for (size_t i = NODE_FIRST; i < p->node_count; i++) {
        t.v[disk_node_id((uint32_t)i)] = disk_node_of(p, &p->nodes[i], record_of);
        if (p->nodes[i].flags & NODE_SHORTENED)
            t.v[NODE_SHORT] =
                (struct disk_node){.frame = DISK_SHORTENED, .parent = DISK_NODE_TRUNCATED};
        if (p->nodes[i].flags & NODE_CALLERLESS)
            t.v[NODE_SITES] = (struct disk_node){.frame = DISK_CALLERS_UNRECORDED,
                                                 .parent = DISK_NODE_TRUNCATED};
    }
    w->has_named |= t.v[NODE_SHORT].frame != 0 || t.v[NODE_SITES].frame != 0;
    write_tags(w, &t);
    w->has_tags = t.count > nodes;
    write_table(w, DISK_NODES, t.v, t.count * sizeof *t.v, sizeof *t.v);
    map_release(&t.tags);
}

static struct disk_counter
disk_counter_of(const struct counters *c)
{
    return (struct disk_counter){
        .allocations = (uint64_t)c->allocations,
        .allocated_bytes = (uint64_t)c->allocated_bytes,
        .frees = (uint64_t)c->frees,
        .freed_bytes = (uint64_t)c->freed_bytes,
        .peak_epoch = EPOCH,
        .peak_bytes = c->peak_bytes,
        .peak_blocks = c->peak_blocks,
        .temporary = (uint64_t)c->temporary,
        .ended_16 = (uint64_t)c->ended_16,
        .ended_256 = (uint64_t)c->ended_256,
        .reallocations = (uint64_t)c->reallocations,
        .moved = (uint64_t)c->moved,
        .grown_bytes = (uint64_t)c->grown_bytes,
        .size_min = c->size_min == SIZE_MIN_NONE ? 0 : c->size_min,
        .size_max = c->size_max,
    };
}

/* Position of a counter: its thread, the block of the site, and the index there. */
struct place {
    uint64_t key;
    const struct counters *counters;
};

static int
by_key(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

/* Write the counters one block at a time, because most of them are zero. Backings have no thread in
 * the model; the file has them in the first thread's row. */
static void
write_counters(struct writer *w)
{
    const struct profile *p = w->p;
    size_t rows = p->thread_site_count, count = rows + (p->thread_count ? p->backing_count : 0);
    struct place *v = arena_array(&w->arena, count, sizeof *v);
    size_t blocks = 0, next;

    for (size_t i = 0; i < rows; i++) {
        const struct profile_thread_site *t = &p->thread_sites[i];

        v[i] = (struct place){(uint64_t)(t->thread + 1) << 32 | p->sites[t->site].id,
                              profile_row_counters(p, i)};
    }
    for (size_t i = rows; i < count; i++)
        v[i] = (struct place){UINT64_C(1) << 32 | backing_site(p, i - rows),
                              &p->backings[i - rows].counters};
    if (count == 0)
        return;
    qsort(v, count, sizeof *v, by_key);
    for (size_t i = 0; i < count; i++)
        blocks += i == 0 || v[i].key / DISK_BLOCK_SITES != v[i - 1].key / DISK_BLOCK_SITES;
    write_table_begin(w, DISK_COUNTERS, blocks * sizeof(struct disk_block),
                      sizeof(struct disk_block));
    for (size_t i = 0; i < count; i = next) {
        struct disk_block block = {.thread = (uint32_t)(v[i].key >> 32),
                                   .first_site =
                                       (uint32_t)v[i].key / DISK_BLOCK_SITES * DISK_BLOCK_SITES};

        for (next = i;
             next < count && v[next].key / DISK_BLOCK_SITES == v[i].key / DISK_BLOCK_SITES; next++)
            block.counters[v[next].key % DISK_BLOCK_SITES] = disk_counter_of(v[next].counters);
        write_table_more(w, &block, sizeof block);
    }
    write_table_end(w);
}

static void
write_model_write_threads(struct writer *w)
{
    const struct profile *p = w->p;
    struct disk_thread *d = arena_array(&w->arena, p->thread_count + 1, sizeof *d);

    if (p->thread_count == 0)
        return;
    for (size_t i = 0; i < p->thread_count; i++) {
        const struct profile_thread *t = &p->threads[i];
        size_t length = strlen(t->name);

        d[i + 1] = (struct disk_thread){.id = (uint32_t)i + 1, .tid = t->tid, .uses = t->uses};
        memcpy(d[i + 1].name, t->name,
               length < DISK_THREAD_NAME_BYTES ? length : DISK_THREAD_NAME_BYTES);
    }
    d[1].frames_reused = p->recorder.frames_reused;
    d[1].frames_unwound = p->recorder.frames_unwound;
    d[1].full_unwinds = p->recorder.full_unwinds;
    d[1].timed_events = p->recorder.events_timed;
    d[1].timed_cycles = p->recorder.timed_ns; // The header says that a cycle is a nanosecond.
    d[1].failed_calls = p->losses.failed_calls;
    d[1].ledger_events = p->losses.ledger_events;
    d[1].unknown_frees = p->losses.unknown_frees;
    d[1].inherited_frees = p->losses.inherited_frees;
    d[1].overwritten_blocks = p->losses.overwritten_blocks;
    d[1].double_frees = p->losses.double_frees;
    d[1].unrecorded_frees = p->losses.unrecorded_frees;
    d[1].lost_sizes = p->losses.lost_sizes;
    write_table(w, DISK_THREADS, d, (p->thread_count + 1) * sizeof *d, sizeof *d);
}

static void
write_bins(struct writer *w)
{
    const struct profile *p = w->p;
    struct disk_bins *d = arena_alloc(&w->arena, sizeof *d);

    if (p->bin_count != DISK_EXACT_BINS + DISK_RANGE_BINS)
        return;
    for (size_t i = 0; i < p->bin_count; i++) {
        const struct counters *c = &p->bins[i].counters;

        if (i < DISK_EXACT_BINS) {
            d->exact[i].allocations = (uint64_t)c->allocations;
            d->exact[i].frees = (uint64_t)c->frees;
        } else {
            d->range[i - DISK_EXACT_BINS] =
                (struct disk_range){(uint64_t)c->allocations, (uint64_t)c->allocated_bytes,
                                    (uint64_t)c->frees, (uint64_t)c->freed_bytes};
        }
    }
    write_table(w, DISK_BINS, d, sizeof *d, sizeof *d);
}

static void
write_timeline(struct writer *w)
{
    const struct profile *p = w->p;
    struct disk_time_point *d = arena_array(&w->arena, p->time_point_count, sizeof *d);

    for (size_t i = 0; i < p->time_point_count; i++)
        d[i] = (struct disk_time_point){p->timeline[i].elapsed_ns, p->timeline[i].live_bytes,
                                        p->timeline[i].events};
    write_table(w, DISK_TIMELINE, d, p->time_point_count * sizeof *d, sizeof *d);
}

static void
write_modes(struct writer *w)
{
    const struct profile *p = w->p;
    struct disk_phase *d = arena_array(&w->arena, p->mode_count, sizeof *d);

    for (size_t i = 0; i < p->mode_count; i++)
        d[i] = (struct disk_phase){.id = (uint32_t)i + 1,
                                   .mode = p->modes[i].mode,
                                   .period = p->modes[i].period,
                                   .since_ns = p->modes[i].elapsed_ns,
                                   .callers_period = p->modes[i].callers_period};
    write_table(w, DISK_PHASES, d, p->mode_count * sizeof *d, sizeof *d);
}

/* Return X, which was an integer in the input files, as an integer. */
static uint64_t
write_model_whole(double x)
{
    return x < 0x1p64 ? (uint64_t)x : UINT64_MAX;
}

static struct disk_error_sum
disk_error_of(const struct error_sum *e)
{
    return (struct disk_error_sum){write_model_whole(e->samples), write_model_whole(e->blocks),
                                   write_model_whole(e->bytes), e->blocks_variance,
                                   e->bytes_variance};
}

static void
write_errors(struct writer *w)
{
    const struct profile *p = w->p;
    struct strbuf out = {0};

    for (size_t i = 0; i < p->site_count && p->site_errors != NULL; i++) {
        const struct errors *e = profile_site_errors(p, i);
        struct disk_error d = {
            .site = p->sites[i].id,
            .allocated = disk_error_of(&e->allocated),
            .freed = disk_error_of(&e->freed),
            .peak_epoch = EPOCH,
            .peak = disk_error_of(&e->peak),
            .blocks_unit_max = e->blocks_unit_max,
            .bytes_unit_max = e->bytes_unit_max,
        };

        if (e->allocated.samples > 0 || e->freed.samples > 0)
            strbuf_add(&out, &d, sizeof d);
    }
    write_table(w, DISK_ERRORS, out.text, out.length, sizeof(struct disk_error));
    strbuf_release(&out);
}

static void
write_unknown_frees(struct writer *w)
{
    const struct profile *p = w->p;
    size_t count = p->unknown_free_count + 1;
    struct disk_unknown_free *d = arena_array(&w->arena, count, sizeof *d);
    uint32_t *site_of = arena_array(&w->arena, p->node_count, sizeof *site_of);

    for (size_t i = 0; i < p->site_count; i++)
        site_of[p->sites[i].node] = p->sites[i].id;
    for (size_t i = 1; i < count; i++) {
        const struct profile_unknown_free *f = &p->unknown_frees[i - 1];

        d[i] = (struct disk_unknown_free){.kind = f->kind,
                                          .node = disk_node_id(f->node),
                                          .site = f->site_node ? site_of[f->site_node] : 0,
                                          .count = f->count,
                                          .address = f->address};
    }
    if (count > 1)
        write_table(w, DISK_UNKNOWN_FREES, d, count * sizeof *d, sizeof *d);
}

static void
write_corruptions(struct writer *w)
{
    const struct profile *p = w->p;
    struct disk_corruption *d = arena_array(&w->arena, p->corruption_count + 1, sizeof *d);
    uint32_t *site_of = arena_array(&w->arena, p->node_count, sizeof *site_of);

    for (size_t i = 0; i < p->site_count; i++)
        site_of[p->sites[i].node] = p->sites[i].id;
    for (size_t i = 0; i < p->corruption_count; i++) {
        const struct profile_corruption *from = &p->corruptions[i];

        d[i] = (struct disk_corruption){
            .kind = from->kind,
            .found = from->found,
            .node = from->node != 0 ? disk_node_id(from->node) : 0,
            .site = from->site_node != 0 ? site_of[from->site_node] : 0,
            .front_site = from->front_node != 0 ? site_of[from->front_node] : 0,
            .written_bytes = from->written_bytes,
            .address = from->address,
            .size_bytes = from->size_bytes,
            .front_address = from->front_address,
            .front_size_bytes = from->front_size_bytes,
            .at = from->at,
            .found_ns = from->found_ns,
            .whole_ns = from->whole_ns,
        };
        memcpy(d[i].written, from->written, sizeof d[i].written);
    }
    if (p->corruption_count > 0)
        write_table(w, DISK_CORRUPTIONS, d, p->corruption_count * sizeof *d, sizeof *d);
}

static void
write_heaps(struct writer *w)
{
    const struct profile *p = w->p;
    struct disk_heap *d = arena_array(&w->arena, p->heap_count, sizeof *d);

    for (size_t i = 1; i < p->heap_count; i++) {
        const struct profile_heap *h = &p->heaps[i];

        d[i] = (struct disk_heap){.id = (uint32_t)i,
                                  .name = write_text(w, h->name),
                                  .created_ns = h->created_ns,
                                  .made = h->made,
                                  .destroyed = h->destroyed,
                                  .resets = h->resets,
                                  .flags = h->collected ? DISK_HEAP_COLLECTED : 0,
                                  .collections = h->collections,
                                  .collected_ns = h->collected_ns};
    }
    if (p->heap_count > 1)
        write_table(w, DISK_HEAPS, d, p->heap_count * sizeof *d, sizeof *d);
}

/* Write the label sets. Set 1 has no labels, in the model and in the file. */
static void
write_label_sets(struct writer *w)
{
    const struct profile *p = w->p;
    struct disk_label_set *d = arena_array(&w->arena, p->label_set_count, sizeof *d);

    for (size_t i = 1; i < p->label_set_count; i++) {
        const struct profile_label_set *set = &p->label_sets[i];
        size_t off = w->strings.length;

        for (size_t k = 0; k < set->count; k++) {
            strbuf_add(&w->strings, set->v[k].key, strlen(set->v[k].key) + 1);
            strbuf_add(&w->strings, set->v[k].value, strlen(set->v[k].value) + 1);
        }
        d[i] = (struct disk_label_set){
            .id = (uint32_t)i, .text = {(uint32_t)off, (uint32_t)(w->strings.length - off)}};
    }
    if (w->has_tags)
        write_table(w, DISK_LABELS, d, p->label_set_count * sizeof *d, sizeof *d);
}

static void
write_programs(struct writer *w)
{
    const struct profile *p = w->p;
    struct disk_program *d = arena_array(&w->arena, p->program_count, sizeof *d);

    for (size_t i = 0; i < p->program_count; i++)
        d[i] = (struct disk_program){write_text(w, p->programs[i].executable),
                                     p->programs[i].processes};
    write_table(w, DISK_PROGRAMS, d, p->program_count * sizeof *d, sizeof *d);
}

static void
write_model_write_notes(struct writer *w)
{
    const struct profile *p = w->p;
    struct disk_note *d = arena_array(&w->arena, p->run_note_count, sizeof *d);

    for (size_t i = 0; i < p->run_note_count; i++) {
        const struct profile_note *n = &p->run_notes[i];

        d[i] = (struct disk_note){.kind = n->kind,
                                  .processes = (uint32_t)n->processes,
                                  .text = write_text(w, n->text),
                                  .advice = write_text(w, n->advice),
                                  .process = write_text(w, n->process),
                                  .anonymous_bytes = n->anonymous_bytes,
                                  .recorded_bytes = n->recorded_bytes};
    }
    write_table(w, DISK_NOTES, d, p->run_note_count * sizeof *d, sizeof *d);
}

static struct disk_spread
spread_of(const struct access_range *r)
{
    return (struct disk_spread){r->total, r->min, r->max};
}

static struct disk_access
disk_access_of(const struct profile_access *a, uint32_t site)
{
    return (struct disk_access){
        .site = site,
        .blocks = a->blocks,
        .accesses = spread_of(&a->accesses),
        .writes = spread_of(&a->writes),
        .size_bytes = spread_of(&a->size_bytes),
        .lifetime_us = spread_of(&a->lifetime_us),
        .utilised = spread_of(&a->utilised),
        .density = spread_of(&a->density),
        .lifetime_density = spread_of(&a->lifetime_density),
        .granules = a->granules,
        .touched_granules = a->touched_granules,
        .untouched_bytes = a->untouched_bytes,
        .never = a->never,
        .write_only = a->write_only,
        .regrown = a->regrown,
        .dated = a->dated,
        .migrated = a->migrated,
        .overlaps = a->overlaps,
        .same_alloc_cpu = a->same_alloc_cpu,
        .same_dealloc_cpu = a->same_dealloc_cpu,
        .alloc_us = a->alloc_us,
        .dealloc_us = a->dealloc_us,
        .alloc_cpu = a->alloc_cpu,
        .dealloc_cpu = a->dealloc_cpu,
        .flags = a->unproven ? (uint64_t)DISK_ACCESS_UNPROVEN : 0,
    };
}

/* Write access counts. All blocks are counted as ended, because a model has no others. */
static void
write_accesses(struct writer *w)
{
    const struct profile_accesses *a = &w->p->accesses;
    struct disk_access *d = arena_array(&w->arena, a->count, sizeof *d);

    for (size_t i = 0; i < a->count; i++)
        d[i] = disk_access_of(&a->v[i], w->p->sites[a->v[i].site].id);
    write_table(w, DISK_ACCESS, d, a->count * sizeof *d, sizeof *d);
}

static void
write_fields(struct writer *w)
{
    const struct profile_accesses *a = &w->p->accesses;
    struct disk_fields *d = arena_array(&w->arena, a->field_count, sizeof *d);
    size_t count = 0;

    for (size_t i = 0; i < a->field_count; i++) {
        const struct profile_access_field *f = &a->fields[i];
        uint32_t site = w->p->sites[f->site].id;
        uint32_t first = f->index - f->index % DISK_FIELD_WORDS;

        if (count == 0 || d[count - 1].site != site || d[count - 1].first != first)
            d[count++] = (struct disk_fields){.site = site, .first = first};
        d[count - 1].fields[f->index % DISK_FIELD_WORDS] =
            (struct disk_field){f->accesses, f->writes, f->blocks, f->reached};
    }
    write_table(w, DISK_FIELDS, d, count * sizeof *d, sizeof *d);
}

static struct disk_counting
counting_of(struct writer *w)
{
    const struct profile_accesses *a = &w->p->accesses;

    if (a->granule_bytes == 0)
        return (struct disk_counting){0};
    return (struct disk_counting){
        .flags = (uint32_t)DISK_COUNTING | (a->separate ? (uint32_t)DISK_COUNTING_APART : 0) |
                 (a->atomic ? (uint32_t)DISK_COUNTING_ATOMIC : 0) |
                 (a->ended ? (uint32_t)DISK_COUNTING_ENDED : 0) |
                 (a->looked ? (uint32_t)DISK_COUNTING_LOOKED : 0) |
                 (uint32_t)DISK_COUNTING_BY_SITE,
        .granule_bytes = a->granule_bytes,
        .words_max = a->granules_max,
        .unmerged_blocks = a->losses.unmerged,
        .undated_blocks = a->losses.undated,
        .lost_accesses = a->losses.accesses,
        .unaligned_blocks = a->losses.unaligned,
        .unfielded_blocks = a->losses.unfielded,
        .outside_blocks = a->losses.outside,
        .resets = a->resets,
        .uncounted = write_text(w, a->uncounted != NULL ? a->uncounted : ""),
    };
}

static void
fill_process(struct writer *w, struct disk_header *h)
{
    const struct profile_process *pr = &w->p->process;

    h->process_flags = (pr->ended ? (uint32_t)DISK_PROCESS_GONE : 0) |
                       (pr->forked ? (uint32_t)DISK_PROCESS_FORKED : 0) |
                       (pr->attached ? (uint32_t)DISK_PROCESS_ATTACHED : 0) |
                       (w->p->damage != NULL && w->p->merged_processes == 0
                            ? (uint32_t)DISK_PROCESS_DAMAGED
                            : 0) |
                       (w->p->losses.runtime_left_out ? (uint32_t)DISK_PROCESS_FOLDED : 0) |
                       (w->p->losses.file_failed ? (uint32_t)DISK_PROCESS_FILE_FAILED : 0) |
                       (w->p->losses.reserved ? (uint32_t)DISK_PROCESS_RESERVED : 0) |
                       (w->p->annotated ? (uint32_t)DISK_PROCESS_ANNOTATED : 0);
    h->pid = pr->pid;
    h->parent_pid = pr->parent_pid;
    h->start_unix_ns = pr->start_unix_ns;
    h->last_cycles = h->last_cycles_ns = CLOCK_NS;
    h->page_bytes = pr->page_bytes;
    h->cpu_count = pr->cpu_count;
    h->machine = raw_machine_number(pr->machine);
    h->command = write_text(w, pr->command);
    h->executable = write_text(w, pr->executable);
    h->kernel = write_text(w, pr->kernel);
    h->heaptap = write_text(w, pr->heaptap);
    h->shared.last_ns = pr->elapsed_ns;
}

static struct disk_header
write_model_header_of(struct writer *w)
{
    const struct profile *p = w->p;
    struct disk_header h = {
        .magic = DISK_MAGIC,
        .version = DISK_VERSION,
        .header_bytes = sizeof h,
        .compatible = DISK_COMPATIBLE_BOUND |
                      (p->totals.lifetimes_unknown ? 0 : (uint64_t)DISK_COMPATIBLE_LIVES),
        .depth_max = p->frames_kept ? p->frames_kept : DISK_DEPTH_MAX,
        .limit_bytes = p->recorder.limit_bytes,
        .callers_period = p->callers_period,
        .overhead_limit = p->recorder.overhead_limit,
        .overhead_ns = p->recorder.overhead_ns,
        .overhead_program_ns = p->recorder.overhead_program_ns,
        .sample_period_bytes = p->sample_period_bytes,
        .merged_processes = p->merged_processes,
        .merged_damaged = p->merged_damaged,
        .merged_left_out = p->merged_left_out,
        .shared.peak_epoch = EPOCH,
        .shared.epoch = EPOCH,
        .shared.peak_bytes = p->totals.peak_bytes,
        .shared.flushed_bytes = counters_live_bytes(&p->totals),
        .shared.peak_ns = p->peak_elapsed_ns,
        .shared.bound_bytes = counters_sum(p->totals.peak_bytes, p->peak_error_bytes),
        .losses.no_thread_events = p->losses.no_thread_events,
        .early_events = p->losses.early_events,
        .damaged_blocks = p->losses.damaged_blocks,
        .losses.no_memory_events = p->losses.no_memory_events,
        .losses.reentrant_events = p->losses.reentrant_events,
        .losses.frames_without_module = p->losses.frames_without_module,
        .losses.history_records = p->losses.history_records,
        .losses.label_sets = p->losses.label_sets,
        .losses.heap_events = p->losses.heap_events,
        .losses.unseen_allocators = p->losses.unseen_allocators,
        .earlier_blocks = p->process.earlier_blocks,
        .earlier_bytes = p->process.earlier_bytes,
        .counting = counting_of(w),
    };

    fill_process(w, &h);
    return h;
}

int
write_model(const struct profile *p, struct strbuf *ret, struct err *err)
{
    struct disk_header header;
    struct writer w;

    ENSURE(p->node_count >= NODE_FIRST);
    ENSURE_VALID(profile_is_valid(p));
    ENSURE_VALID(profile_is_writable(p));
    write_begin(&w, p);
    w.memory_bytes = p->recorder.memory_bytes;
    header = write_model_header_of(&w);
    write_model_write_modules(&w);
    write_nodes(&w);
    write_counters(&w);
    write_model_write_threads(&w);
    write_bins(&w);
    write_timeline(&w);
    write_modes(&w);
    write_errors(&w);
    write_unknown_frees(&w);
    write_corruptions(&w);
    write_heaps(&w);
    write_label_sets(&w);
    write_programs(&w);
    write_model_write_notes(&w);
    write_accesses(&w);
    write_fields(&w);
    if (w.has_tags)
        header.incompatible |= DISK_INCOMPATIBLE_TAGS;
    if (w.has_callers)
        header.incompatible |= DISK_INCOMPATIBLE_CALLERS;
    if (w.has_named)
        header.incompatible |= DISK_INCOMPATIBLE_NAMED;
    return write_finish(&w, &header, ret, err);
}
