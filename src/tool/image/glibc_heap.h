/* glibc_heap.h: the blocks of glibc's malloc, by its own records in the memory of a process. */
#ifndef IMAGE_GLIBC_HEAP_H
#define IMAGE_GLIBC_HEAP_H

#include "image/memory.h"

/* A block in use. */
struct glibc_block {
    uint64_t address;
    uint64_t usable_bytes; // Not less than requested.
    uint32_t head_bytes;   // The chunk is larger by so much.
};

struct glibc_heap {
    struct glibc_block *v; // By address.
    size_t count, capacity;
    bool found; // There is an arena of glibc's in the memory.
    bool whole; // Every heap was walked to its end.
};

/* List the blocks in use in M into *RET, whose memory is from ARENA. Blocks that glibc caches for
 * reuse are not in use. */
void glibc_heap_read(const struct memory *m, struct arena *arena, struct glibc_heap *ret);

#endif
