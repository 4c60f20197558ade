/* annotated_map.h: the set of addresses of annotated blocks. Lock-free, thread-safe and
 * async-signal-safe. A forked child inherits the set.
 *
 * Any two annotated blocks are at least CORE_ANNOTATED_GRANULE bytes apart, because the annotation
 * before each is at least that long. */
#ifndef ANNOTATION_ANNOTATED_MAP_H
#define ANNOTATION_ANNOTATED_MAP_H

#include "base/base.h"
#include "format/core_record.h"

/* Reserve space in the map for the new block at P. Return false if there is no memory. */
bool annotated_reserve(const void *p);

/* Publish the block at P, whose annotation must be complete, after annotated_reserve. PADDED is
 * true if padding precedes the annotation. Other threads may read the block's memory until the
 * block ends. */
void annotated_begins(const void *p, bool padded);

/* Clear the byte of an ended block at P, because the allocator has returned a block without
 * annotation there. */
void annotated_clear_freed(const void *p);

/* Return P's byte (enum core_annotated); 0 if the map has no annotated block, live or ended, at
 * P. */
uint8_t annotated_at(const void *p);

enum annotated_end {
    ANNOTATED_NOT,   // There is no live annotated block at P.
    ANNOTATED_ENDED, // The block was live. It has ended, and no thread reads it.
    ANNOTATED_LEFT,  // The block was live. It has ended, but a thread reads it and will release its
                     // memory.
};

/* Mark the block at P as ended. Return enum annotated_end. */
enum annotated_end annotated_ends(const void *p);

/* Like annotated_ends, but has no effect while a thread is reading the block. Returns true if the
 * block ended. */
bool annotated_takes(const void *p);

/* Pin and unpin the memory of the block at P. annotated_look returns true, and pins the memory, if
 * the block is live and no other thread reads it. After reading, the caller must unpin the memory
 * by annotated_looked. If that returns true, the block has ended meanwhile, and the caller must
 * release the block's memory. */
bool annotated_look(const void *p);
bool annotated_looked(const void *p);

/* Claim the report of a corruption of the block at P. Return true for the first caller only. */
bool annotated_reports(const void *p);

/* Return the first live block at AT or above. The search covers at most SPAN_BYTES of address
 * space, and stores the address where the next search begins in *RET_NEXT. Return NULL if it finds
 * none. At the end of the map, *RET_NEXT is 0. */
void *annotated_next(uintptr_t at, uint64_t span_bytes, uintptr_t *ret_next);

/* Return the live block with the highest address below P, at most SPAN_BYTES away; NULL if there is
 * none. */
void *annotated_before(const void *p, uint64_t span_bytes);

/* Return a word where the caller may store the time of the last check of the blocks around P; NULL
 * = no leaf covers P. */
uint64_t *annotated_seen_ns(const void *p);

/* Return the address of the pointer to the first leaf, for core dumps. */
const void *annotated_leaves(void);

#endif
