/* type_module.h: a file with modules of a profile, and the types in its debug information. The file
 * is opened only if necessary, because caches have most of the data. */
#ifndef TYPE_TYPE_MODULE_H
#define TYPE_TYPE_MODULE_H

#include "profile/profile.h"
#include "symbol/debuginfo.h"
#include "symbol/symbol_options.h"
#include "type/fact_cache.h"
#include "util/map.h"
#include "util/strbuf.h"

/* --- type_index.c: the types of one module, by size. Includes elfutils' headers. */

struct type_entry {
    uint32_t name; // Id in `names`.
    uint64_t size; // Size in bytes, from 1 to UINT32_MAX.
};

/* The types of a module. {0} is empty. */
struct type_index {
    struct strtab names;
    struct arena arena;
    struct type_entry *v; // By size, then by name.
    size_t count, capacity;
};

/* Fill the empty INDEX with all structures, unions and classes of D, and their typedef names; each
 * name once per size. */
void type_index_build(struct type_index *index, struct debuginfo *d);

/* Append a type, for readers of a stored index, which is already sorted. */
void type_index_add(struct type_index *index, const char *name, uint64_t size);

/* Return the index of the first entry of at least SIZE bytes; index->count if there is none. */
size_t type_index_find(const struct type_index *index, uint64_t size);

/* Free all memory of INDEX; INDEX is empty ({0}) afterwards. */
void type_index_release(struct type_index *index);

/* Return true if INDEX is sorted and its sizes and names are valid. Only reads; see
 * util/ensure.h. */
bool type_index_is_valid(const struct type_index *index);

struct type_module {
    const struct profile *p;
    const struct symbol_options *options;
    struct arena *arena;
    uint32_t module; // First module of P with this file.
    bool opened;     // Opening was tried; the next four members may be NULL.
    struct object *object;
    struct debuginfo *debug;
    uint64_t bias;
    struct type_finder *finder;
    bool dated;              // `written` is valid.
    struct timespec written; // When the file was written; 0 = unknown.
    // Kept data (symbol/module_cache.h), if any, was moved to the following fields.
    bool kept_taken;
    bool index_sought;       // The cache of the index was searched for.
    bool index_known;        // `index` is complete.
    struct type_index index; // Empty before type_module_load.
    bool facts_loaded;
    struct fact_cache facts;
};

/* Load the types of M, whose fields from p to module are set. Results live as long as ARENA. */
void type_module_load(struct type_module *m);

/* Return the time when the file was written; 0 = unknown. */
struct timespec type_module_written(struct type_module *m);

/* Return true if type_module_facts may find facts. Its arguments are expensive to compute, so ask
 * first. */
bool type_module_has_facts(struct type_module *m);

/* Fill the empty *RET with the facts about the call in M that returns to ADDRESS of the ELF file,
 * as type_facts_find does. STAMP is a hash of STATEMENTS. */
void type_module_facts(struct type_module *m, uint64_t address, uint64_t stamp,
                       const struct type_statement *statements, size_t count,
                       struct type_facts *ret);

/* Write M's data to the caches, and close M. */
void type_module_close(struct type_module *m);

/* --- type_cache.c: cache the index of a module's types, so that its debug information is walked
 * once. Files are untrusted: a damaged file counts as absent, and so does a file of another user or
 * version. */

/* Read the SIZE_BYTES at DATA, the contents of a cache file, into the empty INDEX. Return false,
 * with INDEX still empty, unless DATA is exactly as type_cache_format writes it, for the build id
 * ID. */
bool type_cache_parse(struct type_index *index, const uint8_t *id, uint32_t id_bytes,
                      const void *data, size_t size_bytes);

/* Append INDEX, which must be sorted, to OUT in the format of the file. */
void type_cache_format(const struct type_index *index, const uint8_t *id, uint32_t id_bytes,
                       struct strbuf *out);

/* Read the types of the module at PATH with build id ID into the empty INDEX. Return false if there
 * is no valid file. */
bool type_cache_load(struct type_index *index, const char *path, const uint8_t *id,
                     uint32_t id_bytes);

/* Write INDEX to that file. Failures are ignored, because the cache is best effort. */
void type_cache_store(const struct type_index *index, const char *path, const uint8_t *id,
                      uint32_t id_bytes);

#endif
