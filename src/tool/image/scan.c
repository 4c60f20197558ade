/* scan.c: find the memory that keeps blocks alive.
 *
 * A search begins with the variables of programs and libraries, stacks from their stack pointers
 * on, and memory that a program has mapped past malloc. The heap is left out: between its blocks
 * are the remains of freed blocks and the allocator's lists, and a pointer there keeps nothing
 * alive. The blocks show which memory is heap:
 *
 *     glibc's main heap      the whole range of addresses that contains one of its blocks
 *     its other arenas       from a multiple of 64 MiB on, up to the end of the range
 *     a separate mapping     the block alone, with the rest of its last page: the kernel merges
 *                            neighbours, so the memory beside it may have any use
 *     other allocators       the whole range
 *
 * A stack may itself be a block, as for coroutines and signal handlers. Then it ends with the
 * block, and heap follows. The thread will return to its original stack, whose stack pointer is
 * unknown meanwhile, so that stack is searched as a whole.
 *
 * Memory without write access counts if the program has written to it before: constants that the
 * dynamic linker has relocated (RELRO), and pages that mprotect has sealed. The kernel puts a page
 * of a private file into a dump only if the program has its own copy of it, so code and constants
 * are missing from the dump. Filters of dumps that include all files cost time, but no block.
 *
 * The first thread's thread-local variables lie in memory that the dynamic linker has mapped. The
 * thread pointer leads to them. Those of other threads are on the threads' stacks, outside of all
 * frames. The program headers state their size, so that they are not taken for remains of calls
 * that have returned. */
#include "image/scan.h"

#include <stdlib.h>
#include <string.h>

#include "image/glibc_heap.h"
#include "image/module_end.h"
#include "util/path.h"

enum {
    PIECE_BYTES = 1 << 16,
    RED_ZONE_BYTES = 128,  // Bytes below the stack pointer that may hold variables.
    TLS_BYTES = 32 << 10,  // Bytes below the thread pointer that may hold thread-local variables.
    GUESS_BYTES = 64,
    FIRST_CHUNK_BYTES = 0x2a0, // Offset of the first block in glibc's main heap.
};

#define ARENA_BYTES (UINT64_C(64) << 20)

/* Flags in the size word of glibc's chunks. */
enum { CHUNK_MAPPED = 2, CHUNK_OTHER_ARENA = 4 };

struct ranges {
    const struct examined *e;
    struct arena *arena;
    struct scan_range *v;
    size_t count, capacity;
    bool in_libc; // The current region is libc's.
    bool in_tls;
    uint64_t arena_start, arena_end; // The record of glibc's main arena; 0 = unknown.
    uint64_t local_bytes; // Most bytes of thread-local variables below a thread pointer.
    uint64_t threads[CORE_THREADS]; // Addresses of the recorder's per-thread data; 0 = none.
};

/* Return the range of thread-local variables with the lowest address that overlaps [START, END),
 * or NULL. */
static const struct scan_range *
tls_within(const struct ranges *r, uint64_t start, uint64_t end)
{
    const struct scan_range *lowest = NULL;

    for (size_t i = 0; i < r->count; i++)
        if (r->v[i].is_tls && r->v[i].start < end && r->v[i].end > start &&
            (lowest == NULL || r->v[i].start < lowest->start))
            lowest = &r->v[i];
    return lowest;
}

enum root_rank
root_rank(const struct scan_range *root)
{
    switch (root->kind) {
    case SCAN_VARIABLE:
        return RANK_VARIABLE;
    case SCAN_STACK:
        return root->is_tls ? RANK_VARIABLE : RANK_STACK;
    case SCAN_REGISTER:
        return RANK_STACK;
    case SCAN_MAPPED:
        break;
    }
    return RANK_MAPPED;
}

static void
scan_add(struct ranges *r, enum scan_kind kind, uint64_t start, uint64_t end,
         const struct memory_thread *thread)
{
    // The dynamic linker has mapped the variables of the first thread; they are in the list.
    const struct scan_range *tls = kind == SCAN_MAPPED ? tls_within(r, start, end) : NULL;

    if (tls != NULL) {
        uint64_t until = tls->start, from = tls->end;

        scan_add(r, kind, start, until, thread);
        scan_add(r, kind, from, end, thread);
        return;
    }
    // The arena's record has pointers to chunks that have become a part of a block meanwhile.
    if (kind == SCAN_VARIABLE && r->arena_start >= start && r->arena_end <= end &&
        r->arena_start < r->arena_end) {
        scan_add(r, kind, start, r->arena_start, thread);
        start = r->arena_end;
    }
    start = (start + 7) & ~UINT64_C(7);
    if (start >= end)
        return;
    arena_grow(r->arena, &r->v, &r->capacity, r->count, sizeof *r->v);
    r->v[r->count++] = (struct scan_range){kind, start, end, thread, r->in_libc, r->in_tls};
}

/* Add the stack [START, END) of THREAD. Thread-local variables on it are separate ranges. */
static void
add_stack(struct ranges *r, uint64_t start, uint64_t end, const struct memory_thread *thread)
{
    const struct memory *m = &r->e->memory;

    while (start < end) {
        const struct memory_thread *next = NULL;
        uint64_t from = end, until = end;

        for (size_t i = 0; i < m->thread_count; i++) {
            const struct memory_thread *t = &m->threads[i];

            if (t->pointer > start && t->pointer < from) {
                next = t;
                from = t->pointer;
            }
        }
        if (next != NULL) {
            until = end - from > SCAN_CONTROL_BYTES ? from + SCAN_CONTROL_BYTES : end;
            from = from - start > r->local_bytes ? from - r->local_bytes : start;
        }
        scan_add(r, SCAN_STACK, start, from, thread);
        r->in_tls = true;
        scan_add(r, SCAN_STACK, from, until, next);
        r->in_tls = false;
        start = until;
    }
}

/* Return true if REGION has memory of the recorder. */
static bool
is_recorders(const struct ranges *r, const struct memory_region *region)
{
    const struct examined *e = r->e;
    const struct core_record *record = &e->record;
    uint64_t bytes = region->end - region->start;

    if (record->address - region->start < bytes)
        return true;
    for (size_t i = 0; i < CORE_CHUNKS; i++)
        if (record->leaf_chunks[i] != 0 && record->leaf_chunks[i] - region->start < bytes)
            return true;
    for (size_t i = 0; i < CORE_SIDES; i++)
        if (record->sides[i] != 0 && record->sides[i] - region->start < bytes)
            return true;
    for (size_t i = 0; i < CORE_THREADS; i++)
        if (r->threads[i] != 0 && r->threads[i] - region->start < bytes)
            return true;
    for (size_t i = 0; i < CORE_TABLES; i++)
        if (record->tables[i].kind != 0 && record->tables[i].address - region->start < bytes)
            return true;
    for (size_t i = 0; i < e->blocks.leaves; i++)
        if (e->blocks.ledger[i].leaf - region->start < bytes)
            return true;
    return (record->threads != 0 && record->threads - region->start < bytes) ||
           (record->header != 0 && record->header - region->start < bytes);
}

/* Return the block that contains ADDRESS, or NULL. */
static const struct block *
scan_find_block(const struct examined *e, uint64_t address)
{
    const struct block *b = blocks_before(&e->blocks, address);

    return b != NULL && block_has(b, address) ? b : NULL;
}

/* Return the block that T uses as its stack, or NULL. */
static const struct block *
stack_block(const struct examined *e, const struct memory_thread *t)
{
    return scan_find_block(e, t->sp);
}

/* Return the thread with the lowest stack pointer in REGION, except threads that run on a block. */
static const struct memory_thread *
thread_in(const struct examined *e, const struct memory_region *region)
{
    const struct memory *m = &e->memory;
    const struct memory_thread *lowest = NULL;

    for (size_t i = 0; i < m->thread_count; i++) {
        const struct memory_thread *t = &m->threads[i];

        if (t->sp >= region->start && t->sp < region->end &&
            (lowest == NULL || t->sp < lowest->sp) && stack_block(e, t) == NULL)
            lowest = t;
    }
    return lowest;
}

/* Return true if REGION, which contains no stack pointer, is a stack that its thread left for
 * another stack and will return to. It is the stack made by the kernel, or a stack made by libc,
 * with the thread's control block in it. *RET is the thread, NULL if unknown. */
static bool
is_left_stack(const struct examined *e, const struct memory_region *region,
              const struct memory_thread **ret)
{
    const struct memory *m = &e->memory;
    const struct memory_thread *first = memory_first_thread(m);
    uint64_t bytes = region->end - region->start;

    if (m->first_stack - region->start < bytes) {
        *ret = first;
        return true;
    }
    for (size_t i = 0; i < m->thread_count; i++) {
        const struct memory_thread *t = &m->threads[i];

        // A stack that is a block lies in the heap.
        if (t != first && t->pointer - region->start < bytes &&
            scan_find_block(e, t->pointer) == NULL) {
            *ret = t;
            return true;
        }
    }
    return false;
}

/* Add the stacks that are blocks. */
static void
add_stack_blocks(struct ranges *r)
{
    const struct memory *m = &r->e->memory;

    for (size_t i = 0; i < m->thread_count; i++) {
        const struct memory_thread *t = &m->threads[i];
        const struct block *b = stack_block(r->e, t);

        if (b != NULL)
            add_stack(r, t->sp - b->address > RED_ZONE_BYTES ? t->sp - RED_ZONE_BYTES : b->address,
                      b->address + block_extent(b), t);
    }
}

/* Return true if REGION begins in or directly behind a mapped file. *RET_MAPPING is its mapping. */
static bool
is_variables(const struct memory *m, const struct memory_region *region,
             const struct memory_mapping **ret_mapping)
{
    *ret_mapping = memory_mapping_at(m, region->start);
    if (*ret_mapping == NULL && region->start > 0)
        *ret_mapping = memory_mapping_at(m, region->start - 1);
    return *ret_mapping != NULL;
}

/* Return the index of the first block at or behind START. */
static size_t
first_block(const struct blocks *b, uint64_t start)
{
    const struct block *before = start > 0 ? blocks_before(b, start - 1) : NULL;

    return before != NULL ? (size_t)(before - b->v) + 1 : 0;
}

/* Return the end of the heap memory around block B in REGION. *RET_START is its beginning. */
static uint64_t
heap_around(const struct examined *e, const struct memory_region *region, const struct block *b,
            uint64_t *ret_start)
{
    uint64_t word = 0;

    *ret_start = region->start;
    if (e->record.usable != CORE_USABLE_GLIBC ||
        !memory_word(&e->memory, b->address - sizeof word, sizeof word, &word))
        return region->end;
    if (word & CHUNK_MAPPED) {
        *ret_start = b->address & -(uint64_t)PAGE_BYTES;
        return (b->address + b->size_bytes + PAGE_BYTES - 1) & -(uint64_t)PAGE_BYTES;
    }
    if (word & CHUNK_OTHER_ARENA && (b->address & -ARENA_BYTES) > region->start)
        *ret_start = b->address & -ARENA_BYTES;
    if (word & CHUNK_OTHER_ARENA && (b->address & -ARENA_BYTES) + ARENA_BYTES < region->end)
        return (b->address & -ARENA_BYTES) + ARENA_BYTES;
    return region->end;
}

/* Add the parts of REGION that are not heap, as ranges of KIND. */
static void
add_besides(struct ranges *r, const struct memory_region *region, enum scan_kind kind)
{
    const struct blocks *b = &r->e->blocks;
    uint64_t from = region->start;
    // Heap that cannot be separated into blocks may keep any block alive.
    size_t i = r->e->inherited.unknown ? b->count : first_block(b, from);

    while (i < b->count && b->v[i].address < region->end) {
        uint64_t start, end = heap_around(r->e, region, &b->v[i], &start);

        // The main heap may follow the program's variables without a gap.
        if (kind == SCAN_VARIABLE && start == region->start)
            start = (b->v[i].address - FIRST_CHUNK_BYTES) & -(uint64_t)PAGE_BYTES;
        if (start > from)
            scan_add(r, kind, from, start, NULL);
        from = end > from ? end : from;
        do
            i++;
        while (i < b->count && b->v[i].address < from);
    }
    if (from < region->end)
        scan_add(r, kind, from, region->end, NULL);
}

/* Add the ranges of KIND in REGION, which begins with variables of MAPPING and may extend beyond
 * them. */
static void
add_variables(struct ranges *r, const struct memory_region *region,
              const struct memory_mapping *mapping, enum scan_kind kind)
{
    const char *name = path_basename(mapping->path);
    struct memory_region front = *region, rest = *region;
    uint64_t end = module_end(r->e, mapping);

    if (end < region->end)
        front.end = rest.start = end > region->start ? end : region->start;
    else
        rest.start = rest.end;
    r->in_libc = strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-", 5) == 0;
    if (kind == SCAN_VARIABLE && strncmp(name, "libheaptap", 10) != 0)
        add_besides(r, &front, kind);
    r->in_libc = false;
    if (kind == SCAN_MAPPED)
        add_besides(r, &rest, kind);
}

/* Return true if REGION may have pointers to blocks. A page that begins an object and cannot be
 * written to has only headers: the kernel dumps it although it is clean. */
static bool
may_have_pointers(const struct memory *m, const struct memory_region *region)
{
    char magic[4];

    if (region->clean || region->readable_bytes == 0)
        return false;
    return (region->access & MEMORY_WRITE) || region->readable_bytes > PAGE_BYTES ||
           memory_read(m, region->start, magic, sizeof magic) < sizeof magic ||
           memcmp(magic, "\177ELF", sizeof magic) != 0;
}

static void
add_region(struct ranges *r, const struct memory_region *region, enum scan_kind kind)
{
    const struct memory *m = &r->e->memory;
    const struct memory_thread *thread = thread_in(r->e, region);
    const struct memory_mapping *mapping;
    bool left = thread == NULL && is_left_stack(r->e, region, &thread);

    if (!may_have_pointers(m, region))
        return;
    if (left) {
        if (kind == SCAN_STACK)
            add_stack(r, region->start, region->end, thread);
        return;
    }
    if (thread != NULL) {
        if (kind == SCAN_STACK)
            add_stack(r,
                      thread->sp - RED_ZONE_BYTES > region->start ? thread->sp - RED_ZONE_BYTES
                                                                  : region->start,
                      region->end, thread);
        return;
    }
    if (is_recorders(r, region))
        return;
    if (is_variables(m, region, &mapping))
        add_variables(r, region, mapping, kind);
    else if (kind == SCAN_MAPPED)
        add_besides(r, region, kind);
}

/* Add the thread-local variables outside of stacks, such as the first thread's. */
static void
add_tls(struct ranges *r)
{
    const struct memory *m = &r->e->memory;

    for (size_t i = 0; i < m->thread_count; i++) {
        const struct memory_thread *t = &m->threads[i];
        const struct memory_region *region = memory_region_at(m, t->pointer);
        uint64_t start, end;

        if (t->pointer == 0 || region == NULL || thread_in(r->e, region) != NULL)
            continue;
        start = t->pointer - region->start > TLS_BYTES ? t->pointer - TLS_BYTES : region->start;
        end = region->end - t->pointer > SCAN_CONTROL_BYTES ? t->pointer + SCAN_CONTROL_BYTES
                                                            : region->end;
        scan_add(r, SCAN_STACK, start, end, t);
    }
}

size_t
scan_ranges(const struct examined *e, struct arena *arena, struct scan_range **ret)
{
    static const enum scan_kind kinds[] = {SCAN_VARIABLE, SCAN_STACK, SCAN_MAPPED};
    struct ranges r = {
        .e = e, .arena = arena, .local_bytes = module_local_bytes(&e->memory)};

    if (!glibc_heap_main_arena(&e->memory, &r.arena_start, &r.arena_end))
        r.arena_start = r.arena_end = 0;
    if (e->record.threads != 0)
        memory_read(&e->memory, e->record.threads, r.threads, sizeof r.threads);
    for (size_t k = 0; k < countof(kinds); k++) {
        for (size_t i = 0; i < e->memory.region_count; i++)
            add_region(&r, &e->memory.regions[i], kinds[k]);
        if (kinds[k] != SCAN_STACK)
            continue;
        add_stack_blocks(&r);
        r.in_tls = true;
        add_tls(&r);
        r.in_tls = false;
    }
    *ret = r.v;
    return r.count;
}

void
scan_words(const struct examined *e, uint64_t start, uint64_t end, scan_fn *fn, void *arg)
{
    uint64_t *words = xmalloc(PIECE_BYTES);

    start = (memory_next(&e->memory, start) + 7) & ~UINT64_C(7);
    while (start != 0 && start < end) {
        size_t some = end - start < PIECE_BYTES ? (size_t)(end - start) : PIECE_BYTES;
        size_t got = memory_read(&e->memory, start, words, some) / sizeof *words;

        for (size_t i = 0; i < got; i++)
            if (words[i] != 0)
                fn(arg, start + i * sizeof *words, words[i]);
        // A running process may have unmapped this page. memory_next skips the gaps between
        // regions.
        start += got > 0 ? got * sizeof *words : PAGE_BYTES;
        start = (memory_next(&e->memory, start) + 7) & ~UINT64_C(7);
    }
    free(words);
}

uint64_t *
scan_extents(const struct examined *e, struct arena *arena)
{
    const struct blocks *b = &e->blocks;
    uint64_t *extents = arena_array(arena, b->count + 1, sizeof *extents);

    for (size_t i = 0; i < b->count; i++) {
        const struct block *block = &b->v[i];

        extents[i] = block_extent(block);
        if (block->flags & (BLOCK_UNSIZED | BLOCK_GUESSED | BLOCK_CORRUPTED)) {
            uint64_t next = i + 1 < b->count ? b->v[i + 1].address - block->address : UINT64_MAX;

            extents[i] = 2 * block->size_bytes + GUESS_BYTES;
            if (next < extents[i] && next > 0)
                extents[i] = next;
        }
    }
    return extents;
}

size_t
scan_block_at(const struct examined *e, const uint64_t *extents, uint64_t address)
{
    const struct block *b = blocks_before(&e->blocks, address);
    size_t i;

    if (b == NULL)
        return 0;
    i = (size_t)(b - e->blocks.v);
    return address - b->address < extents[i] ? i + 1 : 0;
}
