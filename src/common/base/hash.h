/* hash.h: the hash function, a 64-bit finaliser of three xor-shifts and two odd multiplications.
 * Every input bit affects every output bit, so any bits of the result may index a power-of-two
 * table.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/base.h"

static inline uint64_t
hash_u64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x;
}

static inline uint64_t
hash_bytes(const void *data, size_t size_bytes)
{
    const unsigned char *p = data;
    uint64_t h = 0xcbf29ce484222325u ^ size_bytes;

    for (size_t i = 0; i < size_bytes; i++)
        // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): it misreads bools.
        h = (h ^ p[i]) * 0x100000001b3u;
    return hash_u64(h);
}

#endif
