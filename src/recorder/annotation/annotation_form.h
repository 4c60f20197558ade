/* annotation_form.h: writes and checks the annotation in front of a block and the guard behind it
 * (docs/internals/annotated.md). Nothing here touches more than the block's own memory. */
#ifndef ANNOTATION_ANNOTATION_FORM_H
#define ANNOTATION_ANNOTATION_FORM_H

#include "base/base.h"

enum {
    ANNOTATION_ALIGNMENT = 16, // Divides the length of an annotation, so that blocks stay aligned.
    ANNOTATION_FRAMES_MIN = 3, // The shortest annotation; keeps blocks as far apart as
                               // annotated_map.h requires.
    ANNOTATION_FRAMES_MAX = 255,
    ANNOTATION_GUARD_MAX = 255,
};

/* The layout of this process's annotations; constant once the first block may carry one. */
struct annotation_form {
    uint32_t places;      // Slots for return addresses; 0 = blocks are not annotated.
    uint32_t guard_bytes; // Behind each block.
    uint32_t head_bytes;  // Bytes in front of a block.
};

extern struct annotation_form annotation_form;

static inline bool
annotation_is_on(void)
{
    return annotation_form.places != 0;
}

/* Turn annotations on, with room for at least FRAMES return addresses and GUARD_BYTES behind each
 * block. Clamps both to the limits above. */
void annotation_choose(uint64_t frames, uint64_t guard_bytes);

struct annotation_facts {
    uint64_t size_bytes;    // As requested.
    uint64_t padding_bytes; // In front of the annotation; 0 = none.
    uint64_t birth_ns, tid;
    uint32_t frame_count; // Number of frames in annotation_places.
};

/* Return the room in BLOCK's annotation for annotation_form.places return addresses, the innermost
 * first. Write them before annotation_write. */
uint64_t *annotation_places(void *block);

/* Annotate BLOCK. Requires head_bytes and the padding in front of it, and guard_bytes behind its
 * size. */
void annotation_write(void *block, const struct annotation_facts *facts);

/* Overwrite the marks of BLOCK's annotation (it was freed), and write them again. */
void annotation_clear(void *block);
void annotation_restore(void *block);

/* Which parts of an annotation and of the guard are intact. */
struct annotation_state {
    bool begins; // The first word, which holds the begin mark and the layout,
    bool ends;   // the end mark,
    bool whole;  // the whole annotation.
    uint32_t guard_changed; // Index of the first changed guard byte; guard_bytes if none changed,
                            // or if the annotation is not whole, because the guard cannot be
                            // located then.
};

struct annotation_state annotation_validate(const void *block);

static inline bool
annotation_is_corrupted(struct annotation_state s)
{
    return !s.whole || s.guard_changed != annotation_form.guard_bytes;
}

/* Copy to RET the present contents of BLOCK's memory from the first change in S on, MAX_BYTES at
 * most, and store their address in *RET_AT. Return the number of bytes copied. */
uint32_t annotation_written(const void *block, struct annotation_state s, uint8_t *ret,
                            uint32_t max_bytes, uint64_t *ret_at);

/* Read BLOCK's annotation, which must be whole. */
uint64_t annotation_size(const void *block);
uint64_t annotation_birth(const void *block);
uint64_t annotation_padding(const void *block);

/* Return the padding before the annotation of BLOCK, which had some and was freed. A guess if its
 * memory has been used again. */
uint64_t annotation_freed_padding(const void *block);

#endif
