/* resident.c: divide the resident memory of a process by use.
 *
 * The kernel knows which pages are resident, the ledger which blocks are live, and glibc's heads of
 * chunks what is free. Each range of addresses is taken once, so every resident byte has one use:
 *
 *     1. chunks of glibc's heaps    live blocks in them, the rest of these chunks, free chunks
 *     2. other live blocks          other allocators', hooked ones, blocks of annotated processes
 *     3. the rest of each area      by its name and neighbours; if it has live blocks, it is the
 *                                   allocator's
 *
 * A block in another block, such as one of a pool in a block of malloc, counts as the outer one. */
#include "resident/resident.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/glibc_heap.h"
#include "resident/page_map.h"
#include "resident/trim.h"
#include "util/path.h"

struct finder {
    const struct examined *e;
    struct arena *arena;
    struct page_map pages;
    struct glibc_heap heap;
    uint32_t *sites; // By chunk of `heap`; 0 = none or unknown.
    bool *has_blocks; // By area: live blocks of another allocator are there.
    size_t block;    // Index of the block that follows the last one taken.
    bool *is_taken;  // By block.
    bool has_main;   // A part of the main heap was taken.
    struct resident *out;
};

/* Count the resident bytes of [START, END) in PART. Return their number. */
static uint64_t
resident_take(struct finder *f, enum resident_part part, uint64_t start, uint64_t end)
{
    uint64_t bytes = start < end ? page_map_take(&f->pages, start, end) : 0;

    f->out->parts[part] += bytes;
    return bytes;
}

/* --- Blocks ------------------------------------------------------------------------------- */

static enum resident_part
part_of(const struct block *b)
{
    return b->flags & BLOCK_BACKING ? RESIDENT_BACKING : RESIDENT_LIVE;
}

/* Take the blocks in [START, END), a used chunk, and the rest of it. Return the site of the first
 * block; 0 if there is none. */
static uint32_t
take_used(struct finder *f, uint64_t start, uint64_t end)
{
    const struct blocks *all = &f->e->blocks;
    uint64_t at = start;
    uint32_t site = 0;

    while (f->block < all->count && all->v[f->block].address < start)
        f->block++;
    for (; f->block < all->count && all->v[f->block].address < end; f->block++) {
        const struct block *b = &all->v[f->block];
        uint64_t until = b->address + block_extent(b);

        site = site != 0 ? site : b->site;
        f->is_taken[f->block] = true;
        if (b->address < at) // It lies in the block before.
            continue;
        resident_take(f, RESIDENT_ROUNDING, at, b->address);
        at = until < end ? until : end;
        f->out->block_bytes[f->block] = resident_take(f, part_of(b), b->address, at);
    }
    resident_take(f, site != 0 ? RESIDENT_ROUNDING : RESIDENT_UNRECORDED, at, end);
    return site;
}

/* Take chunk C. Its block extends into the next chunk by a word. Return the site of its block; 0 if
 * there is none. */
static uint32_t
take_chunk(struct finder *f, const struct glibc_chunk *c)
{
    static const enum resident_part parts[] = {
        [GLIBC_FREE] = RESIDENT_FREE,     [GLIBC_FASTBIN] = RESIDENT_FASTBINS,
        [GLIBC_CACHED] = RESIDENT_CACHED, [GLIBC_CACHE] = RESIDENT_HEADERS,
        [GLIBC_TOP] = RESIDENT_TOP,
    };
    uint64_t block = c->address + HEAD_BYTES, end = c->address + c->size_bytes;

    if (c->kind == GLIBC_MAPPED) {
        resident_take(f, RESIDENT_HEADERS, c->address & -(uint64_t)PAGE_BYTES, block);
        return take_used(f, block, end);
    }
    resident_take(f, RESIDENT_HEADERS, c->address + WORD, block);
    if (c->kind == GLIBC_USED)
        return take_used(f, block, end + WORD);
    resident_take(f, parts[c->kind], block, c->kind == GLIBC_TOP ? end : end + WORD);
    return 0;
}

static int
by_extent_address(const void *a, const void *b)
{
    const struct glibc_extent *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static int
by_chunk_address(const void *a, const void *b)
{
    const struct glibc_chunk *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

/* Take the chunks of EXTENT, and glibc's records before and behind them. */
static void
take_extent(struct finder *f, const struct glibc_extent *extent)
{
    const struct page_area *area = page_map_area(&f->pages, extent->start);
    uint64_t base = extent->start & -(uint64_t)PAGE_BYTES, at = extent->start;
    struct resident_heap *h = &f->out->heaps[f->out->heap_count++];
    uint64_t free_before = f->out->parts[RESIDENT_FREE] + f->out->parts[RESIDENT_TOP];

    // The program's own memory may lie between two parts of the main heap.
    if (extent->is_main && f->has_main)
        base = extent->start;
    else if (area != NULL && extent->is_main)
        base = area->start;
    f->has_main |= extent->is_main;
    *h = (struct resident_heap){.start = base, .end = extent->end, .is_main = extent->is_main};
    h->resident_bytes = page_map_resident(&f->pages, base, extent->end);
    resident_take(f, RESIDENT_HEADERS, base, extent->start + WORD);
    for (size_t i = 0; i < extent->chunk_count; i++) {
        const struct glibc_chunk *c = &f->heap.chunks[extent->first_chunk + i];

        f->sites[extent->first_chunk + i] = take_chunk(f, c);
        at = c->address + c->size_bytes;
    }
    // Behind the last chunk: two small chunks that end the range, or what a broken walk left.
    resident_take(f, extent->end - at > 4 * HEAD_BYTES ? RESIDENT_UNKNOWN : RESIDENT_HEADERS,
                  at + WORD, extent->end);
    h->free_bytes = f->out->parts[RESIDENT_FREE] + f->out->parts[RESIDENT_TOP] - free_before;
    h->trim_bytes = trim_bytes(&f->pages, &f->heap, extent, f->sites, 0);
    f->out->trim_bytes += h->trim_bytes;
}

/* Take everything in glibc's heaps. */
static void
take_glibc(struct finder *f)
{
    struct glibc_heap *heap = &f->heap;
    size_t first_mapped = 0;

    f->is_taken = arena_array(f->arena, f->e->blocks.count + 1, sizeof *f->is_taken);
    f->out->block_bytes =
        arena_array(f->arena, f->e->blocks.count + 1, sizeof *f->out->block_bytes);
    glibc_heap_read_chunks(&f->e->memory, f->arena, heap);
    f->out->has_glibc = heap->found;
    f->sites = arena_array(f->arena, heap->chunk_count + 1, sizeof *f->sites);
    f->out->heaps = arena_array(f->arena, heap->extent_count + 1, sizeof *f->out->heaps);
    if (heap->extent_count > 1)
        qsort(heap->extents, heap->extent_count, sizeof *heap->extents, by_extent_address);
    for (size_t i = 0; i < heap->extent_count; i++) {
        take_extent(f, &heap->extents[i]);
        first_mapped += heap->extents[i].chunk_count;
    }
    f->block = 0;
    if (heap->chunk_count - first_mapped > 1)
        qsort(heap->chunks + first_mapped, heap->chunk_count - first_mapped, sizeof *heap->chunks,
              by_chunk_address);
    for (size_t i = first_mapped; i < heap->chunk_count; i++)
        f->sites[i] = take_chunk(f, &heap->chunks[i]);
}

/* Take the live blocks outside of glibc's heaps. */
static void
take_other_blocks(struct finder *f)
{
    const struct blocks *all = &f->e->blocks;
    uint64_t at = 0;

    f->has_blocks = arena_array(f->arena, f->pages.area_count + 1, sizeof *f->has_blocks);
    for (size_t i = 0; i < all->count; i++) {
        const struct block *b = &all->v[i];
        const struct page_area *area = page_map_area(&f->pages, b->address);
        uint64_t start = b->address > at ? b->address : at, end = b->address + block_extent(b);

        if (area == NULL || end <= start || f->is_taken[i])
            continue;
        f->has_blocks[area - f->pages.areas] = true;
        f->out->block_bytes[i] = resident_take(f, part_of(b), start, end);
        at = end;
    }
}

/* --- Areas -------------------------------------------------------------------------------- */

static bool
is_of_recorder(const struct finder *f, const struct page_area *a)
{
    const char *name = path_basename(a->path);
    const struct core_record *r = &f->e->record;

    return strncmp(name, "libheaptap", strlen("libheaptap")) == 0 ||
           (*r->path != '\0' && strcmp(a->path, r->path) == 0) ||
           (f->e->profile != NULL && strcmp(a->path, f->e->profile) == 0) ||
           (a->has_recorder_flags && *a->path != '/') ||
           (r->address >= a->start && r->address < a->end);
}

static bool
is_stack(const struct finder *f, const struct page_area *a)
{
    const struct memory *m = &f->e->memory;

    if (strcmp(a->path, "[stack]") == 0)
        return true;
    for (size_t i = 0; i < m->thread_count; i++)
        if (m->threads[i].sp >= a->start && m->threads[i].sp < a->end)
            return true;
    return false;
}

/* Return true if a part of the file PATH is mapped as code. */
static bool
resident_is_code(const struct finder *f, const char *path)
{
    for (size_t i = 0; i < f->pages.area_count; i++)
        if (f->pages.areas[i].executable && strcmp(f->pages.areas[i].path, path) == 0)
            return true;
    return false;
}

static bool
is_shared_memory(const char *path)
{
    static const char *const names[] = {"/dev/shm/", "/SYSV", "/memfd:", "/dev/zero"};

    for (size_t i = 0; i < countof(names); i++)
        if (strncmp(path, names[i], strlen(names[i])) == 0)
            return true;
    return *path != '/';
}

/* Return the use of the rest of area A, the one with INDEX, as AREA_BEFORE was used. */
static enum resident_part
use_of(const struct finder *f, size_t index, enum resident_part use_before)
{
    const struct page_area *a = &f->pages.areas[index];
    bool is_file = *a->path == '/';

    if (is_of_recorder(f, a))
        return RESIDENT_RECORDER;
    if (is_stack(f, a))
        return RESIDENT_STACKS;
    if (a->shared && is_shared_memory(a->path))
        return RESIDENT_SHARED;
    if (is_file)
        return resident_is_code(f, a->path) ? RESIDENT_CODE : RESIDENT_FILES;
    if (strncmp(a->path, "[v", 2) == 0)
        return RESIDENT_CODE;
    if (f->has_blocks[index])
        return RESIDENT_ALLOCATOR;
    // Variables without initial values follow the file.
    if (a->writable && *a->path == '\0' && index > 0 && a[-1].end == a->start &&
        *a[-1].path == '/' && (use_before == RESIDENT_CODE || use_before == RESIDENT_RECORDER))
        return use_before;
    return RESIDENT_MAPPED;
}

static int
by_resident(const void *a, const void *b)
{
    const struct resident_mapping *x = a, *y = b;

    if (x->resident_bytes != y->resident_bytes)
        return x->resident_bytes > y->resident_bytes ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void
add_mapping(struct finder *f, size_t *capacity, const struct page_area *a, uint64_t bytes)
{
    struct resident *r = f->out;

    arena_grow(f->arena, &r->mappings, capacity, r->mapping_count, sizeof *r->mappings);
    r->mappings[r->mapping_count++] =
        (struct resident_mapping){a->start, a->end, bytes, arena_strdup(f->arena, a->path)};
}

/* Take the rest of each area. */
static void
take_rest(struct finder *f)
{
    enum resident_part use = RESIDENT_MAPPED;
    size_t capacity = 0;

    for (size_t i = 0; i < f->pages.area_count; i++) {
        const struct page_area *a = &f->pages.areas[i];
        uint64_t rest = a->resident_bytes - a->counted_bytes;

        use = use_of(f, i, use);
        f->out->parts[use] += rest;
        if (use == RESIDENT_MAPPED && rest > 0)
            add_mapping(f, &capacity, a, rest);
    }
    if (f->out->mapping_count > 1)
        qsort(f->out->mappings, f->out->mapping_count, sizeof *f->out->mappings, by_resident);
}

/* --- Control group ------------------------------------------------------------------------ */

/* Return the number in FILE of control group PATH; 0 if there is none, UINT64_MAX for "max". */
static uint64_t
group_number(const char *path, const char *file)
{
    char name[4200], line[64] = "";
    FILE *f;

    snprintf(name, sizeof name, "/sys/fs/cgroup%s/%s", path, file);
    f = fopen(name, "re");
    if (f != NULL && fgets(line, sizeof line, f) == NULL)
        line[0] = '\0';
    if (f != NULL)
        fclose(f);
    return strncmp(line, "max", 3) == 0 ? UINT64_MAX : strtoull(line, NULL, 10);
}

static void
read_group(uint32_t pid, struct resident *ret)
{
    char name[64], line[4200];
    FILE *f;

    snprintf(name, sizeof name, "/proc/%" PRIu32 "/cgroup", pid);
    f = fopen(name, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "0::", 3) == 0) {
            line[strcspn(line, "\n")] = '\0';
            ret->group_bytes = group_number(line + 3, "memory.current");
            ret->group_max_bytes = group_number(line + 3, "memory.max");
        }
    if (f != NULL)
        fclose(f);
}

/* ------------------------------------------------------------------------------------------ */

static int
by_free(const void *a, const void *b)
{
    const struct resident_heap *x = a, *y = b;

    if (x->free_bytes != y->free_bytes)
        return x->free_bytes > y->free_bytes ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

void
resident_find(const struct examined *e, struct arena *arena, struct resident *ret)
{
    struct finder f = {.e = e, .arena = arena, .out = ret};

    *ret = (struct resident){0};
    if (!page_map_open(e->memory.thread, arena, &f.pages))
        return;
    for (size_t i = 0; i < f.pages.area_count; i++) {
        ret->rss_bytes += f.pages.areas[i].resident_bytes;
        ret->proportional_bytes += f.pages.areas[i].proportional_bytes;
        ret->swapped_bytes += f.pages.areas[i].swapped_bytes;
        ret->huge_bytes += f.pages.areas[i].huge_bytes;
    }
    take_glibc(&f);
    take_other_blocks(&f);
    take_rest(&f);
    if (f.heap.found)
        ret->pin_count = trim_find_pins(&f.pages, &f.heap, f.sites, &e->blocks, ret->pins);
    if (ret->heap_count > 1)
        qsort(ret->heaps, ret->heap_count, sizeof *ret->heaps, by_free);
    read_group(e->memory.pid, ret);
    page_map_close(&f.pages);
}
