/* cfi_cursor.h: a bounded reader for unwind tables, with a sticky error.
 *
 * Read a group of fields, then test `bad` once. After the first read past the end, every read
 * returns 0 and consumes nothing. So a loop that runs until the cursor is empty or bad always ends.
 */
#ifndef UNWIND_CFI_CURSOR_H
#define UNWIND_CFI_CURSOR_H

#include <string.h>

#include "base/base.h"

struct cursor {
    const uint8_t *at;  // Next byte.
    const uint8_t *end; // One past the last byte; never before `at`.
    bool bad;           // A read failed; `at` equals `end` from then on.
};

static inline void
cur_fail(struct cursor *c)
{
    c->bad = true;
    c->at = c->end;
}

static inline size_t
cur_left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

static inline uint64_t
cur_address(const struct cursor *c)
{
    return (uint64_t)(uintptr_t)c->at;
}

/* Read the next SIZE <= 8 bytes as a little-endian number. */
static inline uint64_t
cur_unsigned(struct cursor *c, size_t size)
{
    uint64_t value = 0;

    if (unlikely(cur_left(c) < size)) {
        cur_fail(c);
        return 0;
    }
    memcpy(&value, c->at, size);
    c->at += size;
    return value;
}

static inline uint8_t
cur_u8(struct cursor *c)
{
    return (uint8_t)cur_unsigned(c, 1);
}

static inline uint32_t
cur_u32(struct cursor *c)
{
    return (uint32_t)cur_unsigned(c, 4);
}

static inline int32_t
cur_i32(struct cursor *c)
{
    return (int32_t)cur_u32(c);
}

/* Read the next SIZE bytes, 1 to 8, as a two's complement number. */
static inline int64_t
cur_signed(struct cursor *c, size_t size)
{
    unsigned shift = (unsigned)(64 - 8 * size);

    return (int64_t)(cur_unsigned(c, size) << shift) >> shift;
}

static inline void
cur_skip(struct cursor *c, uint64_t size)
{
    if (size > cur_left(c))
        cur_fail(c);
    else
        c->at += size;
}

/* Read a LEB128 number: its bits, their count and its last byte. Ten groups of seven bits hold any
 * 64-bit number. A longer encoding is an error; surplus bits are lost. */
static inline uint64_t
cur_leb_bits(struct cursor *c, unsigned *ret_shift, uint8_t *ret_last)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = cur_u8(c);
        if (shift >= 70) {
            cur_fail(c);
            return 0;
        }
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    *ret_shift = shift;
    *ret_last = byte;
    return value;
}

static inline uint64_t
cur_uleb(struct cursor *c)
{
    unsigned shift;
    uint8_t last;

    if (likely(c->at < c->end && *c->at < 0x80))
        return *c->at++;
    return cur_leb_bits(c, &shift, &last);
}

static inline int64_t
cur_sleb(struct cursor *c)
{
    unsigned shift = 0;
    uint8_t last = 0;
    uint64_t value = cur_leb_bits(c, &shift, &last);

    if ((last & 0x40) && shift < 64)
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

/* Return the next SIZE bytes as a cursor, and advance C past them. If C has fewer, return an empty,
 * bad cursor. */
static inline struct cursor
cur_slice(struct cursor *c, uint64_t size)
{
    struct cursor slice = {.at = c->at};

    cur_skip(c, size);
    slice.end = c->bad ? slice.at : c->at;
    slice.bad = c->bad;
    return slice;
}

#endif
