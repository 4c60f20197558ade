/* annotation_form.h: what stands in front of an annotated block and behind it, written and judged
 * (docs/internals/annotated.md). Nothing here touches more than the block's own memory.
 */
#ifndef ACCOUNT_ANNOTATION_FORM_H
#define ACCOUNT_ANNOTATION_FORM_H

#include "base/base.h"

enum {
    ANNOTATION_ALIGNMENT = 16, // Of its length, so that a block is aligned as its memory is.
    ANNOTATION_FRAMES_MIN = 3, // Then it is no shorter than what annotated_map.h wants.
    ANNOTATION_FRAMES_MAX = 255,
    ANNOTATION_GUARD_MAX = 255,
};

/* How the annotations of this process are built; a constant once the first block may carry one. */
struct annotation_form {
    uint32_t places;      // For return addresses; 0 = blocks are not annotated.
    uint32_t guard_bytes; // Behind each block.
    uint32_t head_bytes;  // In front of it.
};

extern struct annotation_form annotation_form;

static inline bool
annotation_is_on(void)
{
    return annotation_form.places != 0;
}

/* Have annotations with room for FRAMES return addresses at least, and GUARD_BYTES behind blocks.
 * What is too much is less. */
void annotation_choose(uint64_t frames, uint64_t guard_bytes);

struct annotation_facts {
    uint64_t size_bytes;    // As requested.
    uint64_t padding_bytes; // In front of the annotation; 0 = none.
    uint64_t birth_ns, tid;
    uint32_t frame_count; // In annotation_places.
};

/* Return the room in BLOCK's annotation for annotation_form.places return addresses, the innermost
 * first. Write them before annotation_write. */
uint64_t *annotation_places(void *block);

/* Annotate BLOCK. In front of it are head_bytes and the padding, behind its size guard_bytes. */
void annotation_write(void *block, const struct annotation_facts *facts);

/* Take the marks from BLOCK's annotation, and put them there again. */
void annotation_clear(void *block);
void annotation_restore(void *block);

/* What is left of an annotation, and of the guard. */
struct annotation_state {
    bool begins; // Its first bytes are as they were written, all that say how it is built,
    bool ends;   // and its last.
    bool whole;  // All of it.
    uint32_t guard_changed; // The first guard byte that has changed; guard_bytes if none has, and
                            // if the annotation is not whole, since then nobody knows where it is.
};

struct annotation_state annotation_judge(const void *block);

static inline bool
annotation_is_damaged(struct annotation_state s)
{
    return !s.whole || s.guard_changed != annotation_form.guard_bytes;
}

/* Put what is there now where S says that BLOCK has changed first into RET, up to MAX_BYTES of it,
 * and the address of that into *RET_AT; returns how many. */
uint32_t annotation_written(const void *block, struct annotation_state s, uint8_t *ret,
                            uint32_t max_bytes, uint64_t *ret_at);

/* What BLOCK's annotation says, which is whole. */
uint64_t annotation_size(const void *block);
uint64_t annotation_birth(const void *block);
uint64_t annotation_padding(const void *block);

#endif
