/* type_cache.h: the index of a module's types in a file, so that its debug information is walked
 * once. Nothing in a file is trusted: one that is damaged, foreign or of another version counts as
 * absent. */
#ifndef TYPE_TYPE_CACHE_H
#define TYPE_TYPE_CACHE_H

#include "type/type_index.h"
#include "util/strbuf.h"

/* Read SIZE_BYTES of DATA, which must be the types of the build id ID, into the empty INDEX. False,
 * and INDEX still empty, if any byte is not as type_cache_format would write it. */
bool type_cache_parse(struct type_index *index, const uint8_t *id, uint32_t id_bytes,
                      const void *data, size_t size_bytes);

/* Append the file for INDEX, which must be sorted, to OUT. */
void type_cache_format(const struct type_index *index, const uint8_t *id, uint32_t id_bytes,
                       struct strbuf *out);

/* Read the types of the module at PATH with build id ID into the empty INDEX; false if there is no
 * good file. */
bool type_cache_load(struct type_index *index, const char *path, const uint8_t *id,
                     uint32_t id_bytes);

/* Write INDEX as that file. Failure is silent: a cache is no promise. */
void type_cache_store(const struct type_index *index, const char *path, const uint8_t *id,
                      uint32_t id_bytes);

#endif
