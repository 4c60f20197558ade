/* module_cache.h: cached data of files, for a command that reads many profiles. The processes of
 * one run use the same few libraries. Only one profile at a time uses an entry. */
#ifndef SYMBOL_MODULE_CACHE_H
#define SYMBOL_MODULE_CACHE_H

#include "symbol/symcache.h"

/* Cached data of one file. */
struct module_cache_entry {
    const char *path;
    uint8_t build_id[SYMCACHE_ID_MAX];
    uint32_t build_id_bytes;
    bool without_debug; // A search found no debug information.
    bool has_frames;    // `frames` was read, and no profile is using it.
    struct symcache frames;
    void *types;                      // Data of module `type`; NULL = none.
    void (*release_types)(void *types); // Function that frees `types`.
};

/* Cached entries. {0} is empty. */
struct module_cache {
    struct arena arena;
    struct module_cache_entry **v;
    size_t count, capacity;
};

/* Return K's entry for the file at PATH with build id ID, created on first use. Return NULL if K is
 * NULL, or without a build id, because the file cannot be identified then. */
struct module_cache_entry *module_cache_find(struct module_cache *k, const char *path,
                                             const uint8_t *id, uint32_t id_bytes);

/* Free all entries; K is empty ({0}) afterwards. */
void module_cache_release(struct module_cache *k);

#endif
