/* map.c: open addressing with linear probing, at most three quarters full, nothing is ever
 * removed. */
#include "util/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct map_slot {
    uint64_t key;
    uint64_t value;
    bool used;
};

static struct map_slot *
find_slot(const struct map *m, uint64_t key)
{
    size_t i = hash_u64(key) & (m->capacity - 1);

    while (m->slots[i].used && m->slots[i].key != key)
        i = (i + 1) & (m->capacity - 1);
    return &m->slots[i];
}

static void
grow(struct map *m)
{
    struct map old = *m;

    m->capacity = old.capacity ? old.capacity * 2 : 64;
    m->slots = xmalloc(m->capacity * sizeof *m->slots);
    memset(m->slots, 0, m->capacity * sizeof *m->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].used)
            *find_slot(m, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

uint64_t *
map_put(struct map *m, uint64_t key, bool *ret_new)
{
    struct map_slot *s;

    if (m->count * 4 >= m->capacity * 3)
        grow(m);
    s = find_slot(m, key);
    if (ret_new)
        *ret_new = !s->used;
    if (!s->used) {
        *s = (struct map_slot){.key = key, .used = true};
        m->count++;
    }
    return &s->value;
}

uint64_t *
map_get(const struct map *m, uint64_t key)
{
    struct map_slot *s;

    if (m->capacity == 0)
        return NULL;
    s = find_slot(m, key);
    return s->used ? &s->value : NULL;
}

void
map_release(struct map *m)
{
    free(m->slots);
    *m = (struct map){0};
}

uint32_t
strtab_id(struct strtab *t, const char *s)
{
    uint64_t *head;
    uint32_t id;

    if (t->count == 0) {
        arena_grow(&t->arena, &t->strings, &t->capacity, 0, sizeof *t->strings);
        arena_grow(&t->arena, &t->next, &t->next_capacity, 0, sizeof *t->next);
        t->strings[0] = "";
        t->count = 1;
    }
    if (s == NULL || *s == '\0')
        return 0;
    head = map_put(&t->ids, hash_bytes(s, strlen(s)), NULL);
    for (id = (uint32_t)*head; id != 0; id = t->next[id])
        if (strcmp(t->strings[id], s) == 0)
            return id;
    id = (uint32_t)t->count++;
    arena_grow(&t->arena, &t->strings, &t->capacity, id, sizeof *t->strings);
    arena_grow(&t->arena, &t->next, &t->next_capacity, id, sizeof *t->next);
    t->strings[id] = arena_strdup(&t->arena, s);
    t->next[id] = (uint32_t)*head;
    *head = id;
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
