/* heap_snapshot.c: write live blocks as a profile.
 *
 * The ledger has the address, the size and the site of each block; the profile file has the stack
 * of each site. The file may be younger than the memory, because a process survives a dump by a
 * debugger. But the tables of a file only grow, so every site of the memory is in the file with the
 * same meaning.
 *
 * The result is a profile file like any other, so every view, comparison and export can read it.
 * Its tables of stacks are copies; counters, sizes and threads are new. Each live block counts as
 * one allocation, and nothing as freed. Earlier events are unknown, which a note in the file
 * states. The ledger does not store the thread of an allocation, so one row represents all
 * threads. */
#include "image/memory_profile.h"

#include "profile/writer.h"
#include "sampling/draw.h"

enum { EPOCH = 1, THREAD_ROW = 1 };

/* Tables under construction. */
struct filling {
    const struct raw_file *raw;
    struct writer w;
    struct disk_block *counters;
    size_t counter_count, counter_capacity;
    struct map counter_of; // Site / DISK_BLOCK_SITES to the index of its block plus 1.
    struct disk_error *errors;
    size_t error_count, error_capacity;
    struct map error_of; // Site to index plus 1.
    struct disk_bins *bins;
    int64_t blocks, bytes;
};

static struct disk_counter *
counter_of(struct filling *f, uint32_t site)
{
    uint64_t *known = map_put(&f->counter_of, site / DISK_BLOCK_SITES, NULL);

    if (*known == 0) {
        arena_grow(&f->w.arena, &f->counters, &f->counter_capacity, f->counter_count,
                   sizeof *f->counters);
        f->counters[f->counter_count] = (struct disk_block){
            .thread = THREAD_ROW, .first_site = site - site % DISK_BLOCK_SITES};
        *known = ++f->counter_count;
    }
    return &f->counters[*known - 1].counters[site % DISK_BLOCK_SITES];
}

static void
heap_snapshot_add_error(struct filling *f, uint32_t site, const struct draw_weight *w)
{
    uint64_t *known = map_put(&f->error_of, site, NULL);
    struct disk_error *e;

    if (*known == 0) {
        arena_grow(&f->w.arena, &f->errors, &f->error_capacity, f->error_count, sizeof *f->errors);
        f->errors[f->error_count] = (struct disk_error){.site = site};
        *known = ++f->error_count;
    }
    e = &f->errors[*known - 1];
    e->allocated.samples++;
    e->allocated.blocks += w->blocks;
    e->allocated.bytes += w->bytes;
    e->allocated.blocks_variance += w->blocks_variance;
    e->allocated.bytes_variance += w->bytes_variance;
    e->peak_epoch = EPOCH;
    e->peak = e->allocated;
    if (w->blocks_unit > e->blocks_unit_max)
        e->blocks_unit_max = w->blocks_unit;
    if (w->bytes_unit > e->bytes_unit_max)
        e->bytes_unit_max = w->bytes_unit;
}

/* Return the number of blocks and bytes that B represents. */
static struct draw_weight
heap_snapshot_weight_of(struct filling *f, const struct block *b)
{
    struct draw_weight w = {.blocks = 1, .bytes = b->size_bytes};
    const struct disk_phase *mode;
    struct draw_mode draw;

    if (!(b->flags & BLOCK_SAMPLE) || b->mode >= raw_count(f->raw, DISK_PHASES))
        return w;
    mode = raw_record(f->raw, DISK_PHASES, b->mode);
    if (!draw_is_valid(mode->mode, mode->period) ||
        (mode->mode != DISK_MODE_BYTES && mode->mode != DISK_MODE_COUNT))
        return w;
    draw = draw_mode(mode->mode, mode->period);
    w = draw_weight(&draw, b->size_bytes, b->flags & BLOCK_ROUNDED_UP);
    heap_snapshot_add_error(f, b->site, &w);
    return w;
}

static void
heap_snapshot_add_block(struct filling *f, const struct block *b)
{
    struct draw_weight w = heap_snapshot_weight_of(f, b);
    struct disk_counter *c = counter_of(f, b->site);

    if (c->allocations == 0 || b->size_bytes < c->size_min)
        c->size_min = b->size_bytes;
    if (b->size_bytes > c->size_max)
        c->size_max = b->size_bytes;
    c->allocations += w.blocks;
    c->allocated_bytes += w.bytes;
    if (b->flags & BLOCK_BACKING)
        return;
    f->blocks += (int64_t)w.blocks;
    f->bytes += (int64_t)w.bytes;
    if (b->size_bytes < DISK_EXACT_BINS) {
        f->bins->exact[b->size_bytes].allocations += w.blocks;
    } else {
        struct disk_range *range = &f->bins->range[disk_range_bin(b->size_bytes)];

        range->allocations += w.blocks;
        range->allocated_bytes += w.bytes;
    }
}

static void
heap_snapshot_write_as_it_is(struct filling *f, enum disk_kind kind)
{
    const struct raw_table *t = &f->raw->tables[kind];

    write_table(&f->w, kind, t->bytes, t->size_bytes, t->record_bytes);
}

static void
heap_snapshot_write_threads(struct filling *f)
{
    struct disk_thread rows[THREAD_ROW + 1] = {
        [THREAD_ROW] = {.id = THREAD_ROW, .uses = 1, .name = "all threads"}};

    write_table(&f->w, DISK_THREADS, rows, sizeof rows, sizeof rows[0]);
}

static void
heap_snapshot_write_notes(struct filling *f, const char *name)
{
    const struct raw_table *t = &f->raw->tables[DISK_NOTES];
    struct strbuf notes = {0};
    const char *text = arena_printf(
        &f->w.arena,
        "the blocks that were live in %s; blocks freed before are not included", name);
    struct disk_note note = {.kind = DISK_NOTE_MOMENT, .text = write_text(&f->w, text)};

    if (t->record_bytes == sizeof note)
        strbuf_add(&notes, t->bytes, t->size_bytes / sizeof note * sizeof note);
    strbuf_add(&notes, &note, sizeof note);
    write_table(&f->w, DISK_NOTES, notes.text, notes.length, sizeof note);
    strbuf_release(&notes);
}

static struct disk_header
heap_snapshot_header_of(const struct filling *f, bool ended)
{
    struct disk_header h = f->raw->header;

    h.header_bytes = sizeof h;
    h.process_flags &= ~(uint32_t)(DISK_PROCESS_FILE_FAILED | DISK_PROCESS_GONE);
    if (ended)
        h.process_flags |= DISK_PROCESS_GONE;
    h.incompatible &= ~(uint64_t)DISK_INCOMPATIBLE_COLUMNS;
    h.compatible = DISK_COMPATIBLE_BOUND;
    h.shared.epoch = h.shared.peak_epoch = EPOCH;
    h.shared.snapshot_epoch = 0;
    h.shared.peak_bytes = h.shared.flushed_bytes = h.shared.bound_bytes = f->bytes;
    h.shared.peak_ns = h.shared.last_ns;
    h.losses = (struct disk_losses){.frames_without_module = h.losses.frames_without_module};
    h.early_events = 0;
    h.damaged_blocks = 0;
    h.counting = (struct disk_counting){0};
    return h;
}

int
heap_snapshot_write(const struct raw_file *raw, const struct blocks *b, const char *name,
                    bool ended, struct strbuf *ret, struct err *err)
{
    // Copied tables: stacks, and in packed files their names and types.
    static const enum disk_kind stays[] = {DISK_MODULES, DISK_NODES,  DISK_PHASES,
                                           DISK_HEAPS,   DISK_LABELS, DISK_NAMED, DISK_FRAMES,
                                           DISK_LOCATIONS, DISK_TYPES, DISK_SITE_TYPES};
    static const struct profile no_symbols;
    struct disk_header header;
    struct filling f = {.raw = raw};
    int r;

    write_begin(&f.w, &no_symbols);
    f.w.memory_bytes = raw->header.recorder_bytes + raw->file_bytes;
    strbuf_add(&f.w.strings, raw->tables[DISK_STRINGS].bytes, raw->tables[DISK_STRINGS].size_bytes);
    f.bins = arena_alloc(&f.w.arena, sizeof *f.bins);
    for (size_t i = 0; i < b->count; i++)
        heap_snapshot_add_block(&f, &b->v[i]);
    for (size_t i = 0; i < countof(stays); i++)
        heap_snapshot_write_as_it_is(&f, stays[i]);
    write_table(&f.w, DISK_COUNTERS, f.counters, f.counter_count * sizeof *f.counters,
                sizeof *f.counters);
    write_table(&f.w, DISK_ERRORS, f.errors, f.error_count * sizeof *f.errors, sizeof *f.errors);
    heap_snapshot_write_threads(&f);
    write_table(&f.w, DISK_BINS, f.bins, sizeof *f.bins, sizeof *f.bins);
    heap_snapshot_write_notes(&f, name);
    header = heap_snapshot_header_of(&f, ended);
    map_release(&f.counter_of);
    map_release(&f.error_of);
    r = write_finish(&f.w, &header, ret, err);
    return r;
}
