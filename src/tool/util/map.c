/* map.c: open addressing with linear probing, at most three quarters full, without removal. A slot
 * with the key 0 is free, and the value of key 0 is stored separately. A slot therefore has only
 * two words; size matters, because the maps of a large profile exceed the caches.
 *
 * Keys come from untrusted files. If a file could choose colliding keys, a map would take quadratic
 * time. Therefore the hash has a random seed per run. The output does not depend on the seed,
 * because a map cannot be iterated. */
#include "util/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hash.h"
#include "util/bytes.h"
#include "util/ensure.h"

enum { CAPACITY_MIN = 64 };

struct map_slot {
    uint64_t key; // 0 = free.
    uint64_t value;
};

static uint64_t
map_seed(void)
{
    static uint64_t value;

    // Without random numbers the seed is a constant: colliding keys are then slow, but results are
    // correct.
    if (value == 0 && (getrandom(&value, sizeof value, GRND_NONBLOCK) < 0 || value == 0))
        value = 1;
    return value;
}

static uint64_t
hash_string(const char *s, size_t length)
{
    uint64_t hash = map_seed() ^ length;

    for (; length >= sizeof(uint64_t); length -= sizeof(uint64_t), s += sizeof(uint64_t)) {
        uint64_t part;

        memcpy(&part, s, sizeof part);
        hash = hash_u64(hash ^ part);
    }
    if (length > 0) {
        uint64_t part = 0;

        memcpy(&part, s, length);
        hash = hash_u64(hash ^ part);
    }
    return hash;
}

/* Return the slot of KEY, which is not 0, or the free slot for it. */
static struct map_slot *
map_find_slot(const struct map *m, uint64_t key)
{
    size_t i = hash_u64(key ^ map_seed()) & (m->capacity - 1);

    while (m->slots[i].key != 0 && m->slots[i].key != key)
        i = (i + 1) & (m->capacity - 1);
    return &m->slots[i];
}

static void
map_grow(struct map *m, size_t capacity)
{
    struct map old = *m;

    m->capacity = capacity;
    m->slots = xcalloc(capacity, sizeof *m->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].key != 0)
            *map_find_slot(m, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

void
map_reserve(struct map *m, size_t count)
{
    size_t capacity = m->capacity ? m->capacity : CAPACITY_MIN;

    while (count > capacity / 4 * 3)
        capacity *= 2;
    if (capacity > m->capacity)
        map_grow(m, capacity);
}

/* Like map_put, for key 0. */
static uint64_t *
put_zero(struct map *m, bool *ret_new)
{
    if (ret_new)
        *ret_new = !m->has_zero;
    m->count += !m->has_zero;
    m->has_zero = true;
    return &m->zero_value;
}

uint64_t *
map_put(struct map *m, uint64_t key, bool *ret_new)
{
    struct map_slot *s;

    if (key == 0)
        return put_zero(m, ret_new);
    if (m->count * 4 >= m->capacity * 3)
        map_grow(m, m->capacity ? m->capacity * 2 : CAPACITY_MIN);
    s = map_find_slot(m, key);
    if (ret_new)
        *ret_new = s->key == 0;
    if (s->key == 0) {
        s->key = key;
        m->count++;
    }
    return &s->value;
}

uint64_t *
map_get(const struct map *m, uint64_t key)
{
    struct map_slot *s;

    if (key == 0)
        return m->has_zero ? (uint64_t *)&m->zero_value : NULL;
    if (m->capacity == 0)
        return NULL;
    s = map_find_slot(m, key);
    return s->key != 0 ? &s->value : NULL;
}

void
map_release(struct map *m)
{
    ENSURE_VALID(map_is_valid(m));
    free(m->slots);
    *m = (struct map){0};
}

uint32_t
strtab_id(struct strtab *t, const char *s)
{
    size_t length = s != NULL ? strlen(s) : 0;
    uint64_t *head;
    uint32_t id;

    if (t->count == 0) {
        arena_grow(&t->arena, &t->strings, &t->capacity, 0, sizeof *t->strings);
        arena_grow(&t->arena, &t->next, &t->next_capacity, 0, sizeof *t->next);
        t->strings[0] = "";
        t->count = 1;
    }
    if (length == 0)
        return 0;
    head = map_put(&t->ids, hash_string(s, length), NULL);
    for (id = (uint32_t)*head; id != 0; id = t->next[id])
        if (strcmp(t->strings[id], s) == 0)
            return id;
    id = (uint32_t)t->count++;
    arena_grow(&t->arena, &t->strings, &t->capacity, id, sizeof *t->strings);
    arena_grow(&t->arena, &t->next, &t->next_capacity, id, sizeof *t->next);
    t->strings[id] = arena_strndup(&t->arena, s, length);
    t->next[id] = (uint32_t)*head;
    *head = id;
    return id;
}

uint32_t
strtab_clean_id(struct strtab *t, const char *s)
{
    size_t length = s != NULL ? strlen(s) : 0;
    char *clean;
    uint32_t id;

    if (!bytes_have_control(s, length))
        return strtab_id(t, s);
    clean = xmalloc(length + 1);
    for (size_t i = 0; i <= length; i++)
        clean[i] = i < length && bytes_have_control(&s[i], 1) ? '?' : s[i];
    id = strtab_id(t, clean);
    free(clean);
    return id;
}

const char *
strtab_get(const struct strtab *t, uint32_t id)
{
    return id < t->count ? t->strings[id] : "";
}

void
strtab_release(struct strtab *t)
{
    map_release(&t->ids);
    arena_release(&t->arena);
    *t = (struct strtab){0};
}

bool
map_is_valid(const struct map *m)
{
    size_t used = m->has_zero;

    VALID((m->capacity & (m->capacity - 1)) == 0); // A mask turns a hash into an index.
    // There is always a free slot, so searches end.
    VALID((m->count - m->has_zero) * 4 <= m->capacity * 3 + 3);
    for (size_t i = 0; i < m->capacity; i++) {
        used += m->slots[i].key != 0;
        // A key in another slot would be inserted twice.
        VALID(m->slots[i].key == 0 || map_find_slot(m, m->slots[i].key) == &m->slots[i]);
    }
    VALID(used == m->count); // Nothing is removed.
    return true;
}

bool
strtab_is_valid(const struct strtab *t)
{
    if (t->count == 0)
        return map_is_valid(&t->ids);
    // Both arrays grow before the count.
    VALID(t->count <= t->capacity && t->count <= t->next_capacity);
    VALID(*t->strings[0] == '\0');                                  // Id 0 is the empty string.
    for (size_t i = 1; i < t->count; i++) {
        VALID(*t->strings[i] != '\0'); // No other id is the empty string.
        VALID(t->next[i] < i);         // The newest of a chain comes first, so walks end.
    }
    VALID(t->ids.count < t->count); // Each hash has a string.
    return map_is_valid(&t->ids);
}
