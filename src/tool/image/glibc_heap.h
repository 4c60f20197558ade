/* glibc_heap.h: blocks of glibc's malloc, from the allocator's records in the memory of a
 * process. */
#ifndef IMAGE_GLIBC_HEAP_H
#define IMAGE_GLIBC_HEAP_H

#include "image/memory.h"

/* A block in use. */
struct glibc_block {
    uint64_t address;
    uint64_t usable_bytes; // At least the requested size.
    uint32_t head_bytes;   // Size of the chunk minus usable_bytes.
};

struct glibc_heap {
    struct glibc_block *v; // By address.
    size_t count, capacity;
    bool found; // The memory has an arena of glibc.
    bool whole; // Every heap was walked to its end.
};

/* List the blocks in use in M in *RET. Blocks that glibc caches for reuse are not in use. Memory is
 * from ARENA. */
void glibc_heap_read(const struct memory *m, struct arena *arena, struct glibc_heap *ret);

#endif
