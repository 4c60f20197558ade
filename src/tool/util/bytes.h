/* bytes.h: read and write the numbers of our file formats, which are little-endian on every machine
 * and may be unaligned; copy memory that is mostly zero. */
#ifndef UTIL_BYTES_H
#define UTIL_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "util/strbuf.h"

static inline uint32_t
get32(const uint8_t *p)
{
    uint32_t value;

    memcpy(&value, p, sizeof value);
    return le32toh(value);
}

static inline uint64_t
get64(const uint8_t *p)
{
    uint64_t value;

    memcpy(&value, p, sizeof value);
    return le64toh(value);
}

static inline void
put32(struct strbuf *out, uint32_t value)
{
    value = htole32(value);
    strbuf_add(out, &value, sizeof value);
}

static inline void
put64(struct strbuf *out, uint64_t value)
{
    value = htole64(value);
    strbuf_add(out, &value, sizeof value);
}

static inline bool
bytes_are_zero(const void *p, size_t size_bytes)
{
    const unsigned char *bytes = p;

    return size_bytes == 0 ||
           (bytes[0] == 0 && memcmp(bytes, bytes + 1, size_bytes - 1) == 0);
}

/* Return true if any of SIZE_BYTES is a control character: below 0x20, or 0x7f. Eight bytes are
 * tested at a time: a byte x is below n if x - n sets the highest bit and x has it clear. */
static inline bool
bytes_have_control(const char *text, size_t size_bytes)
{
    const uint64_t ones = 0x0101010101010101u, highest = 0x80 * ones;

    for (size_t at = 0; at < size_bytes; at += sizeof ones) {
        uint64_t x = 0x20 * ones, deleted;

        memcpy(&x, text + at, size_bytes - at < sizeof x ? size_bytes - at : sizeof x);
        deleted = x ^ 0x7f * ones;
        if ((((x - 0x20 * ones) & ~x) | ((deleted - ones) & ~deleted)) & highest)
            return true;
    }
    return false;
}

/* Copy SIZE_BYTES from FROM to TO, which must be zero. Pages of TO that would stay zero are not
 * touched. */
static inline void
bytes_copy_used(void *to, const void *from, size_t size_bytes)
{
    enum { PAGE_BYTES = 4096 };

    for (size_t at = 0, some; at < size_bytes; at += some) {
        const unsigned char *part = (const unsigned char *)from + at;

        some = size_bytes - at < PAGE_BYTES ? size_bytes - at : PAGE_BYTES;
        if (!bytes_are_zero(part, some))
            memcpy((unsigned char *)to + at, part, some);
    }
}

#endif
