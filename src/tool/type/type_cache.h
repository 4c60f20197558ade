/* type_cache.h: cache the index of a module's types, so that its debug information is walked once.
 * Files are untrusted: a damaged file counts as absent, and so does a file of another user or
 * version. */
#ifndef TYPE_TYPE_CACHE_H
#define TYPE_TYPE_CACHE_H

#include "type/type_index.h"
#include "util/strbuf.h"

/* Read SIZE_BYTES of DATA, which must belong to the build id ID, into the empty INDEX. Return
 * false, with INDEX still empty, if any byte differs from type_cache_format's output. */
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
