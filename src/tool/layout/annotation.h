/* annotation.h: decode the annotation in front of a block (docs/internals/annotated.md). The
 * functions have no state and accept any bytes. */
#ifndef LAYOUT_ANNOTATION_H
#define LAYOUT_ANNOTATION_H

#include "base/base.h"

enum {
    ANNOTATION_MARK_BYTES = 4,
    ANNOTATION_SHAPE_BYTES = 8, // The mark, and the bytes that encode the length of the annotation.
    ANNOTATION_PLACES_MAX = 255,
    ANNOTATION_BYTES_MIN = 16 + 4 * (1 + 1),
    ANNOTATION_BYTES_MAX = 16 + 8 * (3 + ANNOTATION_PLACES_MAX),
    // Longest field in front of the mark, which has the length of padding.
    ANNOTATION_BEFORE_BYTES = 8,
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

/* Layout of an annotation. */
struct annotation_shape {
    enum annotation_kind kind;
    uint32_t places; // Number of return addresses; not 0.
    uint32_t guard_bytes;
    bool padded, has_birth, has_thread;
    uint32_t bytes; // Number of bytes from the mark to the user's bytes.
};

/* Decoded contents. */
struct annotation {
    uint64_t size;    // Requested size in bytes.
    uint64_t birth;   // 0 if absent.
    uint64_t thread;  // 0 if absent.
    uint64_t padding; // 0 if absent.
    uint32_t frame_count;
    uint64_t frames[ANNOTATION_PLACES_MAX];
    bool has_end;     // True if the end mark ProF is at its position.
    // Lower bits of the address of the user's bytes; only right if the annotation is whole.
    uint32_t address;
};

/* Return the position of the first "HeaP" that begins in BYTES from FROM on and before END; END if
 * there is none. The bytes up to END + 3 must be readable. */
size_t annotation_find(const uint8_t *bytes, size_t from, size_t end);

/* Like annotation_find, for "ProF". */
size_t annotation_find_end(const uint8_t *bytes, size_t from, size_t end);

/* Decode the shape in the ANNOTATION_SHAPE_BYTES at BYTES, which start with the mark, into *RET.
 * Return false if no annotation starts like that. */
bool annotation_shape(const uint8_t *bytes, struct annotation_shape *ret);

/* Decode the annotation of SHAPE at BYTES, which has shape->bytes, into *RET. BEFORE is the word in
 * front of it, in the annotation's word size; it is read only if there is padding. */
void annotation_read(const struct annotation_shape *shape, const uint8_t *bytes,
                     const uint8_t *before, struct annotation *ret);

/* Find the annotation of a block at ADDRESS in the COUNT bytes at BYTES that precede the block.
 * Return false if there is none with a valid shape and checksum; the results are then undefined. */
bool annotation_in_front(const uint8_t *bytes, size_t count, uint64_t address,
                         struct annotation_shape *ret_shape, struct annotation *ret);

/* Return the index of the first changed byte of the COUNT guard bytes at GUARD; COUNT if none has
 * changed. */
uint32_t annotation_guard(const uint8_t *guard, uint32_t count);

/* Return the word at BYTES, with the word size and byte order KIND. */
uint64_t annotation_word(enum annotation_kind kind, const uint8_t *bytes);

#endif
