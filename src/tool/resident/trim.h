/* trim.h: the memory that glibc's malloc could return to the kernel. */
#ifndef RESIDENT_TRIM_H
#define RESIDENT_TRIM_H

#include "image/blocks.h"
#include "image/glibc_heap.h"
#include "resident/page_map.h"

/* A site whose blocks keep free pages from going back to the kernel. */
struct trim_pin {
    uint32_t site; // Id in the profile's file.
    uint64_t blocks, bytes; // Its blocks in glibc's heaps.
    // Bytes that malloc_trim(0) would return if these blocks were free, more than now.
    uint64_t returned_bytes;
};

enum { TRIM_PINS_MAX = 8 };

/* Return the number of bytes that malloc_trim(0) would return from EXTENT of HEAP. SITES has the
 * site of each chunk's block, 0 = none. Blocks of FREED_SITE count as free, unless it is 0. */
uint64_t trim_bytes(struct page_map *pages, const struct glibc_heap *heap,
                    const struct glibc_extent *extent, const uint32_t *sites, uint32_t freed_site);

/* Find the sites of HEAP's blocks that keep most pages from going back, and store them in RET, most
 * returned bytes first. SITES as above. Return their number. */
size_t trim_find_pins(struct page_map *pages, const struct glibc_heap *heap,
                      const uint32_t *sites, const struct blocks *blocks,
                      struct trim_pin ret[TRIM_PINS_MAX]);

#endif
