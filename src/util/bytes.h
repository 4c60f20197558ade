/* bytes.h: numbers in files of our own, little-endian whatever the machine, at any alignment. */
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

#endif
