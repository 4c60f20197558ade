/* module_cache.c: a short list, searched linearly. A run has at most a few dozen files; with more,
 * its processes would take longer than any search. */
#include "symbol/module_cache.h"

#include <string.h>

static bool
is_of(const struct module_cache_entry *f, const char *path, const uint8_t *id, uint32_t id_bytes)
{
    return f->build_id_bytes == id_bytes && memcmp(f->build_id, id, id_bytes) == 0 &&
           strcmp(f->path, path) == 0;
}

struct module_cache_entry *
module_cache_find(struct module_cache *k, const char *path, const uint8_t *id, uint32_t id_bytes)
{
    struct module_cache_entry *f;

    if (k == NULL || id_bytes == 0 || id_bytes > sizeof f->build_id)
        return NULL;
    for (size_t i = 0; i < k->count; i++)
        if (is_of(k->v[i], path, id, id_bytes))
            return k->v[i];
    f = arena_alloc(&k->arena, sizeof *f);
    f->path = arena_strdup(&k->arena, path);
    f->build_id_bytes = id_bytes;
    memcpy(f->build_id, id, id_bytes);
    arena_grow(&k->arena, &k->v, &k->capacity, k->count, sizeof *k->v);
    k->v[k->count++] = f;
    return f;
}

void
module_cache_release(struct module_cache *k)
{
    for (size_t i = 0; i < k->count; i++) {
        symcache_release(&k->v[i]->frames);
        if (k->v[i]->types != NULL)
            k->v[i]->release_types(k->v[i]->types);
    }
    arena_release(&k->arena);
    *k = (struct module_cache){0};
}
