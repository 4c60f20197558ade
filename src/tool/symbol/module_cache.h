/* module_cache.h: caches of files, kept by a command that reads many profiles, because the
 * processes of one run use the same few libraries. An entry is lent to one profile at a time. */
#ifndef SYMBOL_MODULE_CACHE_H
#define SYMBOL_MODULE_CACHE_H

#include "symbol/symcache.h"

/* Cached data of one file. */
struct module_cache_entry {
    const char *path;
    uint8_t build_id[SYMCACHE_ID_MAX];
    uint32_t build_id_bytes;
    bool without_debug; // A search found no debug information.
    bool has_frames;    // The next one was read and is not lent.
    struct symcache frames;
    void *types;                      // Data of module `type`; NULL = none.
    void (*release_types)(void *types); // Frees it.
};

/* Starts as {0}. */
struct module_cache {
    struct arena arena;
    struct module_cache_entry **v;
    size_t count, capacity;
};

/* K's entry for the file at PATH with build id ID, created on first use. NULL if K is NULL or there
 * is no build id, without which a file cannot be identified. */
struct module_cache_entry *module_cache_find(struct module_cache *k, const char *path,
                                             const uint8_t *id, uint32_t id_bytes);

/* K is empty ({0}) afterwards. */
void module_cache_release(struct module_cache *k);

#endif
