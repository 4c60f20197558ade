/* map.h: two small hash maps of the tools. Both start as {0}, grow by doubling, and are not
 * thread-safe.
 *
 * struct map  keys of 64 bits to values of 64 bits. struct strtab  strings to dense ids from 1
 * on; id 0 is the empty string. A string is stored once and stays at its address as long as the
 * table (interned), so equal ids mean equal strings.
 */
#ifndef UTIL_MAP_H
#define UTIL_MAP_H

#include "base/base.h"
#include "util/arena.h"

struct map {
    struct map_slot *slots; // capacity slots, a power of two; owned.
    size_t capacity;
    size_t count;
    uint64_t zero_value; // Value of key 0; valid if has_zero.
    bool has_zero;       // Key 0 is present.
};

/* Reserve room for COUNT keys, so that the map does not grow until it has more. */
void map_reserve(struct map *m, size_t count);

/* Return the value slot of KEY, created with value 0 if KEY is new. Set *RET_NEW, unless RET_NEW is
 * NULL, to true if KEY is new, otherwise to false. Valid until the next call. */
uint64_t *map_put(struct map *m, uint64_t key, bool *ret_new);

/* Return the value slot of KEY, or NULL if there is none. Valid until the next map_put. */
uint64_t *map_get(const struct map *m, uint64_t key);

/* Free all memory of M; M is empty ({0}) afterwards. */
void map_release(struct map *m);

/* Return true if M is consistent (util/ensure.h): a search finds each key, and no other slot is
 * used. */
bool map_is_valid(const struct map *m);

struct strtab {
    struct arena arena;
    const char **strings; // count entries; [0] is "".
    size_t count;
    size_t capacity;
    // Hash of a string to the newest id with that hash; older ids are chained through next.
    struct map ids;
    uint32_t *next;
    size_t next_capacity;
};

/* Return the id of S, interned if new. NULL counts as the empty string. */
uint32_t strtab_id(struct strtab *t, const char *s);

/* Like strtab_id, with each control character of S replaced by a question mark, because it could
 * control a terminal. For text from untrusted files. */
uint32_t strtab_clean_id(struct strtab *t, const char *s);

/* Return the string of ID; "" for an unassigned id. Interned. */
const char *strtab_get(const struct strtab *t, uint32_t id);

/* Free all memory of T, strings included; T is empty ({0}) afterwards. */
void strtab_release(struct strtab *t);

/* Return true if T's ids lead to strings and its chains end. A search need not find each string:
 * loading may have shortened some (load_fit.c). */
bool strtab_is_valid(const struct strtab *t);

#endif
