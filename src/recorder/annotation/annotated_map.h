/* annotated_map.h: which addresses are annotated blocks. Lock-free, thread-safe and
 * async-signal-safe. The answers also hold in forked children.
 *
 * Two annotated blocks are at least ANNOTATED_GRANULE bytes apart, because the annotation in front
 * of each is no shorter. */
#ifndef ANNOTATION_ANNOTATED_MAP_H
#define ANNOTATION_ANNOTATED_MAP_H

#include "base/base.h"
#include "format/core_record.h"

/* Reserve room in the map for the new block at P. Return false without memory. */
bool annotated_reserve(const void *p);

/* Publish the block at P, whose annotation is complete. Requires annotated_reserve. Other threads
 * may read P's memory until the block ends. */
void annotated_begins(const void *p, bool padded);

/* Clear the byte of an ended block at P: a block without annotation lives there now. */
void annotated_forget(const void *p);

/* Return P's byte (enum core_annotated); 0 if no annotated block lives or lived at P. */
uint8_t annotated_at(const void *p);

enum annotated_end {
    ANNOTATED_NOT,   // No annotated block lives at P.
    ANNOTATED_ENDED, // The block has ended now, and no thread is reading it.
    ANNOTATED_LEFT,  // The block has ended now, but a thread that is reading it will release its
                     // memory.
};

/* End the block at P. */
enum annotated_end annotated_ends(const void *p);

/* Like annotated_ends, but do nothing while a thread is reading the block. Return true if it
 * ended. */
bool annotated_takes(const void *p);

/* annotated_look pins the memory of the block at P. It returns true if the block is live and no
 * other thread is reading it; the caller must then call annotated_looked. That returns true if the
 * block has ended meanwhile: the caller must then release its memory. */
bool annotated_look(const void *p);
bool annotated_looked(const void *p);

/* Claim the report of a corruption of the block at P. Return true for the first caller only. */
bool annotated_reports(const void *p);

/* Return the first live block at AT or above. The search covers at most SPAN_BYTES of address space
 * and stores in *RET_NEXT where to continue. Returns NULL if it finds none there; *RET_NEXT is 0 at
 * the end of the map. */
void *annotated_next(uintptr_t at, uint64_t span_bytes, uintptr_t *ret_next);

/* Return the last live block below P, at most SPAN_BYTES away; NULL = none. */
void *annotated_before(const void *p, uint64_t span_bytes);

/* Return a word that the caller may use for the time when blocks around P were last checked; NULL =
 * no leaf covers P. */
uint64_t *annotated_seen_ns(const void *p);

/* Return the address of the word that holds the address of the first leaf, for core dumps. */
const void *annotated_leaves(void);

#endif
