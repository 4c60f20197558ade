/* annotation_form.h: writes and checks the annotation before a block and the guard after it
 * (docs/internals/annotated.md). The functions access only the block's own memory. */
#ifndef ANNOTATION_ANNOTATION_FORM_H
#define ANNOTATION_ANNOTATION_FORM_H

#include "base/base.h"

enum {
    ANNOTATION_ALIGNMENT = 16, // The length of an annotation is a multiple, to keep blocks aligned.
    ANNOTATION_FRAMES_MIN = 3, // The shortest annotation. It keeps blocks as far apart as
                               // annotated_map.h requires.
    ANNOTATION_FRAMES_MAX = 255,
    ANNOTATION_GUARD_MAX = 255,
};

/* The layout of this process's annotations. Constant from the first annotated block on. */
struct annotation_form {
    uint32_t places;      // Number of slots for return addresses; 0 = blocks are not annotated.
    uint32_t guard_bytes; // Length of the guard after each block.
    uint32_t head_bytes;  // Length of the annotation before each block, without padding.
};

extern struct annotation_form annotation_form;

static inline bool
annotation_is_on(void)
{
    return annotation_form.places != 0;
}

/* Enable annotations, with room for at least FRAMES return addresses, and GUARD_BYTES after each
 * block. Clamp both to the limits above. */
void annotation_choose(uint64_t frames, uint64_t guard_bytes);

struct annotation_facts {
    uint64_t size_bytes;    // Requested size.
    uint64_t padding_bytes; // Padding before the annotation; 0 = none.
    uint64_t birth_ns, tid;
    uint32_t frame_count; // Number of frames in annotation_places.
};

/* Return the slots of BLOCK's annotation for annotation_form.places return addresses, innermost
 * first. Write them before annotation_write. */
uint64_t *annotation_places(void *block);

/* Annotate BLOCK. Before the block there must be space for head_bytes and the padding, and after
 * its size_bytes for guard_bytes. */
void annotation_write(void *block, const struct annotation_facts *facts);

/* Overwrite the marks of BLOCK's annotation when BLOCK is freed (annotation_clear), or write the
 * marks again (annotation_restore). */
void annotation_clear(void *block);
void annotation_restore(void *block);

/* The intact parts of an annotation and its guard. */
struct annotation_state {
    bool begins; // The first word, with the begin mark and the layout, is intact.
    bool ends;   // The end mark is intact.
    bool whole;  // The whole annotation is intact.
    uint32_t guard_changed; // Index of the first changed guard byte. It is guard_bytes if none
                            // changed, or if the annotation is not whole: then the guard's address
                            // is unknown.
};

struct annotation_state annotation_validate(const void *block);

/* Like annotation_validate, but does not read the guard, which is then taken to be intact. */
struct annotation_state annotation_validate_head(const void *block);

static inline bool
annotation_is_corrupted(struct annotation_state s)
{
    return !s.whole || s.guard_changed != annotation_form.guard_bytes;
}

/* Copy at most MAX_BYTES of BLOCK's memory to RET, from the first changed byte that S describes.
 * Store the address of that byte in *RET_AT. Return the number of bytes copied. */
uint32_t annotation_written(const void *block, struct annotation_state s, uint8_t *ret,
                            uint32_t max_bytes, uint64_t *ret_at);

/* Read a field of BLOCK's annotation, which must be whole. */
uint64_t annotation_size(const void *block);
uint64_t annotation_birth(const void *block);
uint64_t annotation_padding(const void *block);

/* Return the length of the padding before the annotation of BLOCK, a freed block that had padding.
 * The result is a guess if the allocator has reused the memory. */
uint64_t annotation_freed_padding(const void *block);

#endif
