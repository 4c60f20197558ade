/* fact_cache.h: cached facts about a module's calls, so that repeated queries need not open its
 * debug information. Files are untrusted: a damaged or foreign file, or one of another version,
 * counts as absent. */
#ifndef TYPE_FACT_CACHE_H
#define TYPE_FACT_CACHE_H

#include "type/type_facts.h"
#include "util/map.h"
#include "util/strbuf.h"

/* Starts as {0}, which is an empty cache. */
struct fact_cache {
    struct arena arena;
    struct fact_cache_entry *entries;
    size_t count, capacity;
    struct map by_call; // By address and stamp: index of the entry plus 1.
    bool changed;       // Changed since it was read.
};

/* Fill the empty *RET with the facts of the call that returns to ADDRESS of the ELF file. STAMP
 * hashes all other inputs. Returns false on a miss. Facts live as long as C. */
bool fact_cache_find(const struct fact_cache *c, uint64_t address, uint64_t stamp,
                     struct type_facts *ret);

/* Add a copy of FACTS for a call that is not in C, unless C is full. */
void fact_cache_add(struct fact_cache *c, uint64_t address, uint64_t stamp,
                    const struct type_facts *facts);

/* Read SIZE_BYTES of DATA, which must be of the build id ID, into the empty C. False, and C still
 * empty, if any byte is not as fact_cache_format would write it. */
bool fact_cache_parse(struct fact_cache *c, const uint8_t *id, uint32_t id_bytes, const void *data,
                      size_t size_bytes);

/* Append the file for C to OUT. */
void fact_cache_format(const struct fact_cache *c, const uint8_t *id, uint32_t id_bytes,
                       struct strbuf *out);

/* Read the cached facts of the module at PATH with build id ID into the empty C, which stays empty
 * without a valid file. */
void fact_cache_load(struct fact_cache *c, const char *path, const uint8_t *id, uint32_t id_bytes);

/* Write C as that file if it changed. Failure is silent: a cache is no promise. */
void fact_cache_store(const struct fact_cache *c, const char *path, const uint8_t *id,
                      uint32_t id_bytes);

/* C is empty ({0}) afterwards. */
void fact_cache_release(struct fact_cache *c);

#endif
