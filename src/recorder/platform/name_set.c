/* name_set.c: see selection.h.
 *
 * The set is an open hash table (hash_places.h) of places in a pool. A text is complete in the pool
 * before a CAS publishes its place. So a fork, a signal or a longjmp leaves no intermediate state.
 * A text that loses the race wastes its pool space. No text is ever removed. */
#include "platform/selection.h"

#include <string.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "base/hash_places.h"

enum { LENGTH_BYTES = 2 };

static size_t
length_at(const struct name_set *t, uint32_t place)
{
    return t->pool[place - 1] | (size_t)t->pool[place] << 8;
}

/* Append TEXT to the pool. Return its place, as in name_set; 0 if there is no room. */
static uint32_t
add_to_pool(struct name_set *t, const void *text, size_t size_bytes)
{
    uint32_t needed = (uint32_t)size_bytes + LENGTH_BYTES;
    uint32_t off = load_relaxed(&t->pool_used);

    do {
        if (needed > t->pool_bytes - off)
            return 0;
    } while (!cas_acq_rel(&t->pool_used, &off, off + needed));
    t->pool[off] = (unsigned char)size_bytes;
    t->pool[off + 1] = (unsigned char)(size_bytes >> 8);
    memcpy(t->pool + off + LENGTH_BYTES, text, size_bytes);
    return off + 1;
}

static bool
name_set_is_text(const struct name_set *t, uint32_t place, const void *text, size_t size_bytes)
{
    return length_at(t, place) == size_bytes &&
           memcmp(t->pool + place - 1 + LENGTH_BYTES, text, size_bytes) == 0;
}

uint32_t
name_set_intern(struct name_set *t, const void *text, size_t size_bytes)
{
    struct hash_places p = {.hash = hash_bytes(text, size_bytes), .total = t->place_count};
    uint32_t made = 0, number;

    if (size_bytes > NAME_SET_LENGTH_MAX)
        return NAME_SET_NONE;
    while (hash_places_next(&p, &number)) {
        uint32_t place = load_acquire(&t->places[number]);

        if (place == 0) {
            if (made == 0 && (made = add_to_pool(t, text, size_bytes)) == 0)
                return NAME_SET_NONE;
            if (cas_acq_rel(&t->places[number], &place, made))
                return number;
        }
        if (name_set_is_text(t, place, text, size_bytes))
            return number;
    }
    return NAME_SET_NONE;
}

const void *
name_set_get(const struct name_set *t, uint32_t number, size_t *ret_size_bytes)
{
    uint32_t place = number < t->place_count ? load_acquire(&t->places[number]) : 0;

    *ret_size_bytes = 0;
    if (place == 0)
        return t->pool;
    *ret_size_bytes = length_at(t, place);
    return t->pool + place - 1 + LENGTH_BYTES;
}
