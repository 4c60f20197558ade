/* glibc_heap.h: blocks and chunks of glibc's malloc, from the allocator's records in the memory of
 * a process. */
#ifndef IMAGE_GLIBC_HEAP_H
#define IMAGE_GLIBC_HEAP_H

#include "image/examined.h"
#include "image/memory.h"

/* A block in use. */
struct glibc_block {
    uint64_t address;
    uint64_t usable_bytes; // Usable size of the block: at least the requested size.
    uint32_t head_bytes;   // Size of the chunk minus usable_bytes.
};

enum glibc_chunk_kind {
    GLIBC_USED,    // Has a block in use, perhaps one of glibc's own.
    GLIBC_FREE,    // Free, and merged with its free neighbours.
    GLIBC_FASTBIN, // Freed, in a fastbin of its arena: not merged.
    GLIBC_CACHED,  // Freed, in the cache of a thread: not merged.
    GLIBC_CACHE,   // Has the cache of a thread.
    GLIBC_TOP,     // The free end of an arena.
    GLIBC_MAPPED,  // Has a block with a separate mapping.
};

/* A chunk: its block begins HEAD_BYTES behind `address` and may extend WORD bytes beyond the
 * chunk. */
struct glibc_chunk {
    uint64_t address, size_bytes;
    enum glibc_chunk_kind kind;
};

/* A range of addresses with consecutive chunks of an arena. */
struct glibc_extent {
    uint64_t start, end; // The first chunk begins at `start`.
    bool is_main;        // The range grows by brk.
    size_t first_chunk, chunk_count;
};

struct glibc_heap {
    struct glibc_block *v; // By address.
    size_t count, capacity;
    bool found; // The memory has an arena of glibc.
    bool whole; // Every heap was walked to its end.
    struct glibc_extent *extents; // In no order.
    size_t extent_count, extent_capacity;
    bool lists_chunks;          // `chunks` is filled in.
    struct glibc_chunk *chunks; // By extent, then by address; mapped chunks are last.
    size_t chunk_count, chunk_capacity;
};

/* List the blocks in use in M in *RET. Blocks that glibc caches for reuse are not in use. Memory is
 * from ARENA. */
void glibc_heap_read(const struct memory *m, struct arena *arena, struct glibc_heap *ret);

/* Like glibc_heap_read, and list all chunks as well. */
void glibc_heap_read_chunks(const struct memory *m, struct arena *arena, struct glibc_heap *ret);

/* Store the addresses of the main arena's record among libc's variables in [*RET_START, *RET_END).
 * Return false if M has none. */
bool glibc_heap_main_arena(const struct memory *m, uint64_t *ret_start, uint64_t *ret_end);

/* Layout of a chunk of glibc's malloc on 64-bit systems. */

enum {
    WORD = 8,
    PAGE_BYTES = 4096,
    HEAD_BYTES = 16, // Distance from a chunk to its block.
    FLAGS = 7,
    FLAG_BEFORE_USED = 1,
    FLAG_MAPPED = 2,
    CHUNK_LEAST = 32,
    ALIGNMENT = 16,
};

/* --- abort_cause.c: find why glibc's allocator aborted, and the block that it was called with. */

enum abort_kind {
    ABORT_UNKNOWN,     // The message does not lead to a block.
    ABORT_OVERFLOWED,  // The user of the block wrote past its end.
    ABORT_OVERWRITTEN, // The word in front of the block was overwritten.
    ABORT_FREED_TWICE, // The block was already free.
    ABORT_EITHER,      // Either FREED_TWICE or OVERFLOWED.
};

enum abort_call {
    ABORT_IN_FREE, // The message is from free(), or does not name the call.
    ABORT_IN_REALLOC,
    ABORT_IN_MALLOC, // No block was passed to the call: `block` precedes unused memory.
};

struct abort_cause {
    const char *message; // glibc's message without its newline; NULL = none.
    enum abort_kind kind;
    enum abort_call call;
    // The block that the message is about; `site` is 0 if unknown. Unset if kind is ABORT_UNKNOWN.
    struct ended_block block;
    struct ended_block front; // ABORT_OVERWRITTEN: the block in front; address 0 = none.
};

/* Find why the process of E, a dump, aborted, and store it in *RET. Strings are from ARENA. */
void abort_cause_find(const struct examined *e, struct arena *arena, struct abort_cause *ret);

#endif
