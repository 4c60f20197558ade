/* annotated_map.h: which addresses are annotated blocks. Lock-free; any thread may call these, also
 * in a signal handler. The answers hold in forked children, too.
 *
 * Two such blocks are at least ANNOTATED_GRANULE bytes apart, which what is in front of each takes.
 */
#ifndef ACCOUNT_ANNOTATED_MAP_H
#define ACCOUNT_ANNOTATED_MAP_H

#include "base/base.h"
#include "format/core_record.h"

/* Make room for the block at P, which nobody knows yet. False if there is none. */
bool annotated_reserve(const void *p);

/* The annotation of P has been written; there is room for it. Until it ends, P's memory is read by
 * others. */
void annotated_begins(const void *p, bool padded);

/* A block without annotation is at P now. */
void annotated_forget(const void *p);

/* P's byte (enum core_annotated); 0 if no annotated block is or was at P. */
uint8_t annotated_at(const void *p);

enum annotated_end {
    ANNOTATED_NOT,   // No annotated block lives at P.
    ANNOTATED_ENDED, // It did, until now, and nobody looks at it.
    ANNOTATED_LEFT,  // It did, and somebody looks at it, who will give its memory back.
};

/* The block at P is to end. */
enum annotated_end annotated_ends(const void *p);

/* The same, but if somebody looks at it, nothing is done. True if it has ended. */
bool annotated_takes(const void *p);

/* Keep the memory of the block at P from being given back: true if it lives and nobody else looks
 * at it. To be ended by annotated_looked, which says whether it has been left to the caller: then
 * the block has ended meanwhile, and its memory is to be given back. */
bool annotated_look(const void *p);
bool annotated_looked(const void *p);

/* Damage of the block at P is being reported: true for the first who says so. */
bool annotated_reports(const void *p);

/* The first block that lives at AT or above. At most so many bytes of address space are looked at,
 * of which *RET_NEXT is the end; NULL if there is none in these, and *RET_NEXT 0 at the end. */
void *annotated_next(uintptr_t at, uint64_t span_bytes, uintptr_t *ret_next);

/* The last block that lives below P, at most SPAN_BYTES away; NULL = none. */
void *annotated_before(const void *p, uint64_t span_bytes);

/* When blocks around P were last looked at; a word that may be written. NULL = nowhere. */
uint64_t *annotated_seen_ns(const void *p);

/* The address of the first leaf is in this word; for dumps. */
const void *annotated_leaves(void);

#endif
