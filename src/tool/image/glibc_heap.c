/* glibc_heap.c: walk the heaps of glibc's malloc without symbols.
 *
 * A forked child inherits blocks that its own ledger does not list, because the recorder's memory
 * is wiped at the fork. The allocator's records are not wiped, and they separate used from free
 * memory:
 *
 *     malloc_state    16 bytes │ fastbins[10] │ top │ remainder │ bins[127] │ map │ next │ …
 *     heap            chunk │ chunk │ chunk │ … │ top
 *     chunk           size and three flags │ block
 *
 * 1. Find the main arena among the variables of the modules: an empty bin points to itself, twice,
 *    the chunks of others lead back, and so does the list of arenas to its beginning.
 * 2. Walk the chunks of every heap of every arena. The chunk behind a free chunk has its lowest
 *    flag cleared.
 * 3. Chunks in fastbins and thread caches keep that flag, so follow these lists and drop their
 *    chunks. A thread cache is itself a chunk, recognised by its size and its lists; an empty one
 *    is recognised by the thread's pointer to it.
 * 4. Large blocks have separate mappings, which begin at a page.
 * 5. If the program has called sbrk itself, the main heap has a gap: two chunks of the size of a
 *    head end the part in front of it. The next part begins at the first chunk from which chunks
 *    lead to the top, or to another such end.
 *
 * The layouts of glibc 2.26 to 2.41 with 8-byte words are supported. Any other layout, and a heap
 * that was overwritten, ends the walk: then `whole` is false. Every address is checked before use,
 * and the size of the memory bounds every loop. */
#include "image/glibc_heap.h"

#include <stdlib.h>
#include <string.h>

#include "util/map.h"

enum {
    /* malloc_state */
    FASTBINS = 10,
    FASTBINS_OFF = 16,
    TOP_OFF = 96,
    BINS_OFF = 112,
    BINS = 127,
    BINS_CHANGING = 2, // Bins that a stopped thread may be changing.
    FORWARD_OFF = 16,  // Links of a chunk, or of a bin, which looks like one.
    BACKWARD_OFF = 24,
    NEXT_OFF = 2160,
    SYSTEM_OFF = 2184,
    STATE_BYTES = 2200,
    ARENAS_MAX = 4096,
    PART_WORDS = 4096,
    PART_STEPS = 1 << 20, // Most chunks that are visited to find a part of the main heap.
    /* heap_info */
    HEAP_PREVIOUS_OFF = 8,
    HEAP_SIZE_OFF = 16,
    HEAP_INFO_MAX = 256,
    /* tcache_perthread_struct */
    CACHE_BINS = 64,
    CACHE_CHUNK = 0x290,
    CACHE_COUNT_MAX = 1024,
    TLS_BYTES = 4096, // Range below the thread pointer with libc's thread-local variables.
};

#define HEAP_BYTES (UINT64_C(64) << 20)
#define ADDRESS_LIMIT (UINT64_C(1) << 47)

struct cache {
    uint16_t counts[CACHE_BINS];
    uint64_t entries[CACHE_BINS];
};

struct walker {
    const struct memory *m;
    struct arena *arena;
    struct glibc_heap *out;
    struct map cached; // Blocks in fastbins and thread caches, with their enum glibc_chunk_kind.
};

static uint64_t
glibc_heap_word_at(const struct walker *w, uint64_t address)
{
    uint64_t word;

    return memory_word(w->m, address, WORD, &word) ? word : 0;
}

static uint64_t
glibc_heap_size_of(const struct walker *w, uint64_t chunk)
{
    return glibc_heap_word_at(w, chunk + WORD) & ~(uint64_t)FLAGS;
}

/* --- Arenas ------------------------------------------------------------------------------- */

/* Return true if the list of arenas from STATE on leads back to STATE. */
static bool
is_ring(const struct walker *w, uint64_t state)
{
    uint64_t at = glibc_heap_word_at(w, state + NEXT_OFF);

    for (uint32_t i = 0; i < ARENAS_MAX && at != 0 && at != state; i++)
        at = glibc_heap_word_at(w, at + NEXT_OFF);
    return at == state;
}

/* Return true if FIRST and LAST are the links of a bin at SELF: they lead to itself, or to chunks
 * that lead back. */
static bool
is_bin(const struct walker *w, uint64_t first, uint64_t last, uint64_t self)
{
    if (first == self || last == self)
        return first == last;
    return first != 0 && last != 0 && first % ALIGNMENT == 0 && last % ALIGNMENT == 0 &&
           glibc_heap_word_at(w, first + BACKWARD_OFF) == self &&
           glibc_heap_word_at(w, last + FORWARD_OFF) == self;
}

/* Return true if the words at V, read from ADDRESS, are an arena. */
static bool
is_arena(const struct walker *w, const uint64_t *v, uint64_t address)
{
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < BINS && wrong <= BINS_CHANGING; i++) {
        size_t at = (BINS_OFF + 2 * WORD * i) / WORD;
        uint64_t self = address + BINS_OFF + 2 * WORD * (uint64_t)i - HEAD_BYTES;

        wrong += !is_bin(w, v[at], v[at + 1], self);
    }
    return wrong <= BINS_CHANGING && is_ring(w, address);
}

/* Return the address of the main arena in REGION, or 0. */
static uint64_t
glibc_heap_find_in(const struct walker *w, const struct memory_region *region)
{
    uint64_t *words, found = 0;
    size_t count;

    if (region->readable_bytes < STATE_BYTES)
        return 0;
    words = xmalloc(region->readable_bytes);
    count = memory_read(w->m, region->start, words, region->readable_bytes) / WORD;
    for (size_t i = 0; i + STATE_BYTES / WORD <= count && found == 0; i++)
        // First a cheap test that every arena passes: `next` is set and `top` is aligned.
        if (words[i + NEXT_OFF / WORD] != 0 && words[i + TOP_OFF / WORD] % ALIGNMENT == 0 &&
            is_arena(w, words + i, region->start + i * WORD))
            found = region->start + i * WORD;
    free(words);
    return found;
}

static uint64_t
find_main(const struct walker *w)
{
    const struct memory *m = w->m;
    uint64_t found = 0;

    for (size_t i = 0; i < m->region_count && found == 0; i++) {
        const struct memory_region *r = &m->regions[i];

        if (memory_is_variables(m, r) && r->access & MEMORY_WRITE && r->start % WORD == 0)
            found = glibc_heap_find_in(w, r);
    }
    return found;
}

bool
glibc_heap_main_arena(const struct memory *m, uint64_t *ret_start, uint64_t *ret_end)
{
    const struct walker w = {.m = m};

    if (m->word_bytes != WORD || m->big_endian)
        return false;
    *ret_start = find_main(&w);
    *ret_end = *ret_start + STATE_BYTES;
    return *ret_start != 0;
}

/* --- Lists of free chunks ----------------------------------------------------------------- */

/* Return the target of the link VALUE stored at AT. If MASKED is true, links are stored xor their
 * own address shifted by 12, as in glibc 2.32 and later. */
static uint64_t
reveal(uint64_t at, uint64_t value, bool masked)
{
    return masked ? value ^ at >> 12 : value;
}

/* Follow the list of at most MOST blocks that begins with BLOCK, each in a chunk of CHUNK_BYTES. If
 * NOTE is true, add them to w->cached. Return false if a link is invalid or the list is longer. */
static bool
glibc_heap_follow(struct walker *w, uint64_t block, uint64_t chunk_bytes, uint32_t most,
                  bool masked, bool note)
{
    uint32_t i = 0;

    for (; block != 0 && i < most; i++) {
        if (block % ALIGNMENT != 0 || glibc_heap_size_of(w, block - HEAD_BYTES) != chunk_bytes)
            return false;
        if (note)
            *map_put(&w->cached, block, NULL) = GLIBC_CACHED;
        block = reveal(block, glibc_heap_word_at(w, block), masked);
    }
    return block == 0;
}

/* Return true if the lists of C, with links MASKED or not, are valid and not all empty. */
static bool
is_cache(struct walker *w, const struct cache *c, bool masked)
{
    bool any = false;

    for (uint32_t i = 0; i < CACHE_BINS; i++) {
        if (c->counts[i] > CACHE_COUNT_MAX || (c->counts[i] == 0) != (c->entries[i] == 0) ||
            !glibc_heap_follow(w, c->entries[i], CHUNK_LEAST + (uint64_t)ALIGNMENT * i,
                               c->counts[i], masked, false))
            return false;
        any |= c->entries[i] != 0;
    }
    return any;
}

/* Return true if a word near some thread's thread pointer is ADDRESS. */
static bool
is_of_thread(const struct walker *w, uint64_t address)
{
    uint64_t words[TLS_BYTES / WORD];

    for (size_t i = 0; i < w->m->thread_count; i++) {
        uint64_t end = w->m->threads[i].pointer, bytes = sizeof words;
        const struct memory_region *r = memory_region_at(w->m, end);
        size_t count;

        if (end % WORD != 0 || r == NULL)
            continue;
        if (bytes > end - r->start)
            bytes = end - r->start;
        count = memory_read(w->m, end - bytes, words, bytes) / WORD;
        for (size_t k = 0; k < count; k++)
            if (words[k] == address)
                return true;
    }
    return false;
}

/* If the chunk at CHUNK is a thread cache, add the blocks in it to w->cached and return true. */
static bool
take_cache(struct walker *w, uint64_t chunk)
{
    static const struct cache empty;
    struct cache c;

    static_assert(sizeof c == CACHE_CHUNK - HEAD_BYTES, "glibc 2.30");
    if (memory_read(w->m, chunk + HEAD_BYTES, &c, sizeof c) < sizeof c)
        return false;
    if (memcmp(&c, &empty, sizeof c) == 0)
        return is_of_thread(w, chunk + HEAD_BYTES);
    for (int masked = 1; masked >= 0; masked--)
        if (is_cache(w, &c, masked)) {
            for (uint32_t i = 0; i < CACHE_BINS; i++)
                glibc_heap_follow(w, c.entries[i], CHUNK_LEAST + (uint64_t)ALIGNMENT * i,
                                  c.counts[i], masked, true);
            return true;
        }
    return false;
}

static void
note_fastbins(struct walker *w, uint64_t state)
{
    for (uint32_t i = 0; i < FASTBINS; i++) {
        uint64_t chunk = glibc_heap_word_at(w, state + FASTBINS_OFF + (uint64_t)i * WORD);
        uint64_t bytes = CHUNK_LEAST + (uint64_t)ALIGNMENT * i;
        bool masked = true, new;

        // Links lead to chunks, not to blocks. The first link shows if links are masked.
        for (uint32_t k = 0; chunk != 0; k++) {
            uint64_t block = chunk + HEAD_BYTES, link = glibc_heap_word_at(w, block);

            if (chunk % ALIGNMENT != 0 || glibc_heap_size_of(w, chunk) != bytes)
                break;
            *map_put(&w->cached, block, &new) = GLIBC_FASTBIN;
            if (!new) // The list leads back to itself.
                break;
            if (k == 0)
                masked = reveal(block, link, true) % ALIGNMENT == 0;
            chunk = reveal(block, link, masked);
        }
    }
}

/* --- Heaps -------------------------------------------------------------------------------- */

static void
glibc_heap_add_block(struct walker *w, uint64_t chunk, uint64_t size, uint32_t head_bytes)
{
    struct glibc_heap *h = w->out;

    arena_grow(w->arena, &h->v, &h->capacity, h->count, sizeof *h->v);
    h->v[h->count++] = (struct glibc_block){chunk + HEAD_BYTES, size - head_bytes, head_bytes};
}

static void
add_extent(struct walker *w, uint64_t start, uint64_t end, bool is_main)
{
    struct glibc_heap *h = w->out;

    arena_grow(w->arena, &h->extents, &h->extent_capacity, h->extent_count, sizeof *h->extents);
    h->extents[h->extent_count++] = (struct glibc_extent){
        .start = start, .end = end, .is_main = is_main, .first_chunk = h->chunk_count};
}

/* Add a chunk to the latest extent, if chunks are listed. */
static void
add_chunk(struct walker *w, uint64_t address, uint64_t size, enum glibc_chunk_kind kind)
{
    struct glibc_heap *h = w->out;

    if (!h->lists_chunks)
        return;
    arena_grow(w->arena, &h->chunks, &h->chunk_capacity, h->chunk_count, sizeof *h->chunks);
    h->chunks[h->chunk_count++] = (struct glibc_chunk){address, size, kind};
    if (kind != GLIBC_MAPPED)
        h->extents[h->extent_count - 1].chunk_count++;
}

/* Return the end of the heap that contains AT; AT itself if no heap does. */
static uint64_t
heap_end(const struct walker *w, uint64_t at)
{
    for (size_t i = 0; i < w->out->extent_count; i++) {
        const struct glibc_extent *e = &w->out->extents[i];
        uint64_t page = e->start & -(uint64_t)PAGE_BYTES;

        if (at - page < e->end - page)
            return e->end;
    }
    return at;
}

/* Walk the chunks of [CHUNK, END). They end at TOP if it lies in this range, else at a chunk
 * smaller than any real one. Return false if the walk leaves the heap; *RET_STOP is then the chunk
 * where it ended. */
static bool
glibc_heap_walk(struct walker *w, uint64_t chunk, uint64_t end, uint64_t top, bool is_main,
                uint64_t *ret_stop)
{
    const uint64_t first = chunk;
    uint64_t size;

    *ret_stop = chunk;
    if (heap_end(w, chunk) != chunk) // The list of heaps leads back to itself.
        return false;
    add_extent(w, chunk, end, is_main);
    for (; chunk != top && end - chunk > HEAD_BYTES; chunk += size) {
        enum glibc_chunk_kind kind = GLIBC_USED;

        *ret_stop = chunk;
        size = glibc_heap_size_of(w, chunk);
        if (size < CHUNK_LEAST)
            return top < first || top >= end;
        if (size % ALIGNMENT != 0 || size > end - chunk)
            return false;
        if ((glibc_heap_word_at(w, chunk + size + WORD) & FLAG_BEFORE_USED) == 0)
            kind = GLIBC_FREE;
        else if (size == CACHE_CHUNK && take_cache(w, chunk))
            kind = GLIBC_CACHE;
        else
            glibc_heap_add_block(w, chunk, size, WORD);
        add_chunk(w, chunk, size, kind);
    }
    if (chunk == top && top < end)
        add_chunk(w, top, end - top, GLIBC_TOP);
    return true;
}

/* Return true if CHUNK is the end of a part of the main heap, in front of memory that the program
 * has taken by sbrk. */
static bool
is_fence(const struct walker *w, uint64_t chunk)
{
    return glibc_heap_size_of(w, chunk) == HEAD_BYTES &&
           glibc_heap_size_of(w, chunk + HEAD_BYTES) == HEAD_BYTES;
}

/* Return true if chunks lead from CHUNK to TOP or to the end of a part. *STEPS bounds the work. */
static bool
leads_on(const struct walker *w, uint64_t chunk, uint64_t top, uint64_t *steps)
{
    const uint64_t first = chunk;

    while (chunk < top && *steps > 0) {
        uint64_t size = glibc_heap_size_of(w, chunk);

        --*steps;
        if (size == HEAD_BYTES && chunk > first)
            return is_fence(w, chunk);
        if (size < CHUNK_LEAST || size % ALIGNMENT != 0 || size > top - chunk)
            return false;
        chunk += size;
    }
    return chunk == top;
}

/* Return the first chunk of the main heap's next part, which begins between FROM and TOP; 0 if
 * there is none. */
static uint64_t
find_part(const struct walker *w, uint64_t from, uint64_t top)
{
    uint64_t words[PART_WORDS], steps = PART_STEPS + (top - from) / ALIGNMENT;

    while (from <= top) {
        size_t count = memory_read(w->m, from, words, sizeof words) / WORD;

        if (count < 2)
            return 0;
        for (size_t i = 0; i + 1 < count && from + i * WORD <= top; i += ALIGNMENT / WORD)
            // The memory in front is not free for glibc.
            if (from + i * WORD == top ||
                (words[i + 1] & FLAG_BEFORE_USED && words[i + 1] < top &&
                 leads_on(w, from + i * WORD, top, &steps)))
                return steps > 0 ? from + i * WORD : 0;
        from += count / 2 * ALIGNMENT;
    }
    return 0;
}

/* Walk the heap that grows by brk. Return false if it is not whole. */
static bool
walk_main(struct walker *w, uint64_t state)
{
    uint64_t top = glibc_heap_word_at(w, state + TOP_OFF),
             bytes = glibc_heap_word_at(w, state + SYSTEM_OFF);
    uint64_t end = top + glibc_heap_size_of(w, top), at, stop;

    if (bytes == 0) // Nothing was allocated there yet.
        return true;
    if (top >= ADDRESS_LIMIT || end < top || bytes > end)
        return false;
    at = (end - bytes + ALIGNMENT - 1) & -(uint64_t)ALIGNMENT;
    while (!glibc_heap_walk(w, at, end, top, true, &stop)) {
        at = stop > at && stop < top && is_fence(w, stop)
                 ? find_part(w, stop + 2 * (uint64_t)HEAD_BYTES, top)
                 : 0;
        if (at == 0)
            return false;
        w->out->extents[w->out->extent_count - 1].end = stop;
    }
    return true;
}

/* Walk the heaps of an arena other than the main one, latest first. Return false if they are not
 * whole. */
static bool
walk_other(struct walker *w, uint64_t state)
{
    uint64_t top = glibc_heap_word_at(w, state + TOP_OFF), info = state % HEAP_BYTES;
    uint64_t heap = top & -HEAP_BYTES;
    bool whole = true;

    note_fastbins(w, state);
    if (info > HEAP_INFO_MAX)
        return false;
    for (uint32_t i = 0; heap != 0 && i < w->m->region_count + 1; i++) {
        uint64_t size = glibc_heap_word_at(w, heap + HEAP_SIZE_OFF);
        uint64_t first = heap + info + (heap == state - info ? STATE_BYTES : 0), stop;

        if (glibc_heap_word_at(w, heap) != state || size > HEAP_BYTES || heap % HEAP_BYTES != 0)
            return false;
        first = (first + ALIGNMENT - 1) & -(uint64_t)ALIGNMENT;
        whole &= first < heap + size && glibc_heap_walk(w, first, heap + size, top, false, &stop);
        heap = glibc_heap_word_at(w, heap + HEAP_PREVIOUS_OFF);
    }
    return whole && heap == 0;
}

/* --- Mappings ----------------------------------------------------------------------------- */

/* Return true if CHUNK is the head of a block whose mapping begins at START in REGION. *RET is the
 * chunk's size. The first word of such a chunk is its distance from START. */
static bool
glibc_heap_is_mapped(const struct walker *w, const struct memory_region *region, uint64_t start,
                     uint64_t chunk, uint64_t *ret)
{
    uint64_t before = glibc_heap_word_at(w, chunk), word = glibc_heap_word_at(w, chunk + WORD);
    uint64_t size = word & ~(uint64_t)FLAGS;

    *ret = size;
    return (word & FLAGS) == FLAG_MAPPED && before == chunk - start && size >= CHUNK_LEAST &&
           size <= region->end - chunk && (before + size) % PAGE_BYTES == 0;
}

/* Add the block whose mapping begins at START in REGION. Return the end of the block, or START if
 * there is none. */
static uint64_t
take_mapped(struct walker *w, const struct memory_region *region, uint64_t start)
{
    uint64_t word = glibc_heap_word_at(w, start + WORD), size;

    if (glibc_heap_word_at(w, start) != 0 || word % PAGE_BYTES != FLAG_MAPPED)
        return start;
    // An aligned block has a second head further behind, and the first head stays unchanged. If the
    // mapping was moved, only the distance between both still holds.
    for (uint64_t align = 2 * CHUNK_LEAST; align < HEAP_BYTES;
         align += align < PAGE_BYTES ? align : PAGE_BYTES) {
        uint64_t chunk = start + align - HEAD_BYTES;

        if (chunk >= region->end)
            break;
        if (glibc_heap_is_mapped(w, region, start, chunk, &size)) {
            glibc_heap_add_block(w, chunk, size, HEAD_BYTES);
            add_chunk(w, chunk, size, GLIBC_MAPPED);
            return chunk + size;
        }
    }
    if (!glibc_heap_is_mapped(w, region, start, start, &size))
        return start;
    glibc_heap_add_block(w, start, size, HEAD_BYTES);
    add_chunk(w, start, size, GLIBC_MAPPED);
    return start + size;
}

static void
find_mapped(struct walker *w, const struct memory_region *region)
{
    uint64_t at = region->start;

    while (at >= region->start && at < region->end) {
        uint64_t end = heap_end(w, at);

        if (end == at)
            end = take_mapped(w, region, at);
        at = end > at ? (end + PAGE_BYTES - 1) & -(uint64_t)PAGE_BYTES
                      : memory_next(w->m, at + PAGE_BYTES) & -(uint64_t)PAGE_BYTES;
    }
}

/* ------------------------------------------------------------------------------------------ */

static int
glibc_heap_by_address(const void *a, const void *b)
{
    const struct glibc_block *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

/* Drop the blocks in fastbins and thread caches, and sort the rest. */
static void
drop_cached(struct walker *w)
{
    struct glibc_heap *h = w->out;
    size_t kept = 0;

    for (size_t i = 0; i < h->count; i++)
        if (map_get(&w->cached, h->v[i].address) == NULL)
            h->v[kept++] = h->v[i];
    h->count = kept;
    for (size_t i = 0; i < h->chunk_count; i++) {
        struct glibc_chunk *c = &h->chunks[i];
        const uint64_t *kind = c->kind == GLIBC_USED
                                   ? map_get(&w->cached, c->address + HEAD_BYTES) : NULL;

        if (kind != NULL)
            c->kind = (enum glibc_chunk_kind)*kind;
    }
    if (h->count > 1)
        qsort(h->v, h->count, sizeof *h->v, glibc_heap_by_address);
}

/* Fill in RET, whose lists are empty. */
static void
glibc_heap_fill(const struct memory *m, struct arena *arena, struct glibc_heap *ret)
{
    struct walker w = {.m = m, .arena = arena, .out = ret};
    uint64_t first, at;

    if (m->word_bytes != WORD || m->big_endian)
        return;
    first = find_main(&w);
    ret->found = first != 0;
    if (!ret->found)
        return;
    note_fastbins(&w, first);
    ret->whole = walk_main(&w, first);
    at = glibc_heap_word_at(&w, first + NEXT_OFF);
    for (uint32_t i = 0; i < ARENAS_MAX && at != first && at != 0; i++) {
        ret->whole &= walk_other(&w, at);
        at = glibc_heap_word_at(&w, at + NEXT_OFF);
    }
    for (size_t i = 0; i < m->region_count; i++)
        if (m->regions[i].access & MEMORY_WRITE &&
            memory_mapping_at(m, m->regions[i].start) == NULL)
            find_mapped(&w, &m->regions[i]);
    drop_cached(&w);
    map_release(&w.cached);
}

void
glibc_heap_read(const struct memory *m, struct arena *arena, struct glibc_heap *ret)
{
    *ret = (struct glibc_heap){0};
    glibc_heap_fill(m, arena, ret);
}

void
glibc_heap_read_chunks(const struct memory *m, struct arena *arena, struct glibc_heap *ret)
{
    *ret = (struct glibc_heap){.lists_chunks = true};
    glibc_heap_fill(m, arena, ret);
}
