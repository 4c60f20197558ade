/* fact_cache.h: cached facts about a module's calls, so that repeated queries need not open its
 * debug information. Files are untrusted: a damaged file counts as absent, and so does a file of
 * another user or version. */
#ifndef TYPE_FACT_CACHE_H
#define TYPE_FACT_CACHE_H

#include "type/type_facts.h"
#include "util/map.h"
#include "util/strbuf.h"

/* Cached facts of one file. {0} is empty. */
struct fact_cache {
    struct arena arena;
    struct fact_cache_entry *entries;
    size_t count, capacity;
    struct map by_call; // Address and stamp to index of the entry plus 1.
    bool changed;       // Facts were added since the file was read.
};

/* Fill the empty *RET with the facts about the call that returns to ADDRESS of the ELF file. STAMP
 * is a hash of all other inputs. Return false on a miss. Facts live as long as C. */
bool fact_cache_find(const struct fact_cache *c, uint64_t address, uint64_t stamp,
                     struct type_facts *ret);

/* Add a copy of FACTS for a call that is not in C, unless C is full. */
void fact_cache_add(struct fact_cache *c, uint64_t address, uint64_t stamp,
                    const struct type_facts *facts);

/* Read the SIZE_BYTES at DATA, the contents of a cache file, into the empty C. Return false, with C
 * still empty, unless DATA is exactly as fact_cache_format writes it, for the build id ID. */
bool fact_cache_parse(struct fact_cache *c, const uint8_t *id, uint32_t id_bytes, const void *data,
                      size_t size_bytes);

/* Append C, in the format of the file, to OUT. */
void fact_cache_format(const struct fact_cache *c, const uint8_t *id, uint32_t id_bytes,
                       struct strbuf *out);

/* Read the cached facts of the module at PATH with build id ID into the empty C. C stays empty if
 * there is no valid file. */
void fact_cache_load(struct fact_cache *c, const char *path, const uint8_t *id, uint32_t id_bytes);

/* Write C to that file if facts were added. Failures are ignored, because the cache is best
 * effort. */
void fact_cache_store(const struct fact_cache *c, const char *path, const uint8_t *id,
                      uint32_t id_bytes);

/* Free all memory of C; C is empty ({0}) afterwards. */
void fact_cache_release(struct fact_cache *c);

#endif
