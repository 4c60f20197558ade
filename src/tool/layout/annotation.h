/* annotation.h: decode the annotation in front of a block (docs/internals/annotated.md). Pure:
 * accepts any bytes. */
#ifndef LAYOUT_ANNOTATION_H
#define LAYOUT_ANNOTATION_H

#include "base/base.h"

enum {
    ANNOTATION_MARK_BYTES = 4,
    ANNOTATION_SHAPE_BYTES = 8, // The mark, and the bytes that give the length of the annotation.
    ANNOTATION_PLACES_MAX = 255,
    ANNOTATION_BYTES_MIN = 16 + 4 * (1 + 1),
    ANNOTATION_BYTES_MAX = 16 + 8 * (3 + ANNOTATION_PLACES_MAX),
    ANNOTATION_BEFORE_BYTES = 8, // Longest field in front of the mark with the length of padding.
};

/* The writer's word size and byte order. */
enum annotation_kind {
    ANNOTATION_32_LITTLE,
    ANNOTATION_64_LITTLE,
    ANNOTATION_32_BIG,
    ANNOTATION_64_BIG,
    ANNOTATION_KINDS,
};

static inline uint32_t
annotation_word_bytes(enum annotation_kind kind)
{
    return kind == ANNOTATION_64_LITTLE || kind == ANNOTATION_64_BIG ? 8 : 4;
}

static inline bool
annotation_is_big(enum annotation_kind kind)
{
    return kind == ANNOTATION_32_BIG || kind == ANNOTATION_64_BIG;
}

/* How an annotation is built. */
struct annotation_shape {
    enum annotation_kind kind;
    uint32_t places; // For return addresses; not 0.
    uint32_t guard_bytes;
    bool padded, has_birth, has_thread;
    uint32_t bytes; // From the mark to the user's bytes.
};

/* Decoded contents. */
struct annotation {
    uint64_t size;    // As requested.
    uint64_t birth;   // If it has one, else 0.
    uint64_t thread;  // Likewise,
    uint64_t padding; // likewise.
    uint32_t frame_count;
    uint64_t frames[ANNOTATION_PLACES_MAX];
    bool has_end;     // ProF is where it should be.
    uint32_t address; // The low bits of the address of the user's bytes, if all else is valid.
};

/* Return the first "HeaP" that begins in BYTES from FROM on and before END; END if there is none.
 * The bytes up to END + 3 must be readable. */
size_t annotation_find(const uint8_t *bytes, size_t from, size_t end);

/* Like annotation_find, for "ProF". */
size_t annotation_find_end(const uint8_t *bytes, size_t from, size_t end);

/* Set *RET to the shape in the ANNOTATION_SHAPE_BYTES at BYTES, which start with the mark. Return
 * false if no annotation starts like that. */
bool annotation_shape(const uint8_t *bytes, struct annotation_shape *ret);

/* Decode the annotation of SHAPE at BYTES, shape->bytes long, into *RET. BEFORE is the word in
 * front of it, of its word size; it is read if there is padding. */
void annotation_read(const struct annotation_shape *shape, const uint8_t *bytes,
                     const uint8_t *before, struct annotation *ret);

/* Find the annotation of a block at ADDRESS in the COUNT bytes at BYTES that precede the block.
 * Return false if none is whole, shape and check included; the RETs may have changed then. */
bool annotation_in_front(const uint8_t *bytes, size_t count, uint64_t address,
                         struct annotation_shape *ret_shape, struct annotation *ret);

/* Return the first of the COUNT guard bytes at GUARD that is not as it was written; COUNT if all
 * are. */
uint32_t annotation_guard(const uint8_t *guard, uint32_t count);

/* Return the word of KIND at BYTES. */
uint64_t annotation_word(enum annotation_kind kind, const uint8_t *bytes);

#endif
