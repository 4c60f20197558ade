/* type_cache.c: cache a type index in a file beside the symbol cache (symcache.c has the rules of
 * trust and location).
 *
 * The file, all integers little-endian:
 *
 *     offset  0  8   magic "heaptapt"
 *             8  8   checksum of everything from offset 16 on (hash_bytes)
 *            16  4   version, FORMAT_VERSION
 *            20  4   entries E
 *            24  4   string bytes S
 *            28  4   build id bytes, at most 32
 *            32 32   build id, the rest zero
 *            64 12E  entries: u64 size, u32 name (offset into the strings); sizes ascend
 *                S   strings, each ended by a NUL
 *
 * Only the index of a module with debug information is stored. It cannot become stale, because the
 * build id identifies the file. */
#include "type/type_module.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "symbol/symcache.h"
#include "util/bytes.h"
#include "util/ensure.h"

enum { FORMAT_VERSION = 1, ID_MAX = 32, HEAD_BYTES = 64, HASHED_FROM = 16, ENTRY_BYTES = 12 };

#define MAGIC "heaptapt"
#define KIND "types-"

/* Return true if DATA has a valid header for the build id ID, and the size that the header
 * implies. */
static bool
type_cache_has_right_head(const uint8_t *id, uint32_t id_bytes, const uint8_t *data,
                          size_t size_bytes)
{
    uint8_t wanted_id[ID_MAX] = {0};

    if (size_bytes < HEAD_BYTES || id_bytes > ID_MAX)
        return false;
    memcpy(wanted_id, id, id_bytes);
    return memcmp(data, MAGIC, 8) == 0 && get32(data + 16) == FORMAT_VERSION &&
           get32(data + 28) == id_bytes && memcmp(data + 32, wanted_id, ID_MAX) == 0 &&
           HEAD_BYTES + (uint64_t)ENTRY_BYTES * get32(data + 20) + get32(data + 24) == size_bytes &&
           get64(data + 8) == hash_bytes(data + HASHED_FROM, size_bytes - HASHED_FROM);
}

/* Return true if an entry of SIZE with NAME may follow the last entry of INDEX. */
static bool
is_next(const struct type_index *index, uint64_t size, const char *name)
{
    const struct type_entry *last = index->count > 0 ? &index->v[index->count - 1] : NULL;

    if (size == 0 || size > UINT32_MAX)
        return false;
    return last == NULL || last->size < size ||
           (last->size == size && strcmp(index->names.strings[last->name], name) <= 0);
}

bool
type_cache_parse(struct type_index *index, const uint8_t *id, uint32_t id_bytes, const void *data,
                 size_t size_bytes)
{
    const uint8_t *bytes = data;
    const char *strings;
    uint32_t count;
    uint32_t string_bytes;

    if (!type_cache_has_right_head(id, id_bytes, bytes, size_bytes))
        return false;
    count = get32(bytes + 20);
    string_bytes = get32(bytes + 24);
    strings = (const char *)bytes + HEAD_BYTES + (size_t)ENTRY_BYTES * count;
    if (count > 0 && (string_bytes == 0 || strings[string_bytes - 1] != '\0'))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *entry = bytes + HEAD_BYTES + (size_t)ENTRY_BYTES * i;
        uint64_t size = get64(entry);

        if (get32(entry + 8) >= string_bytes ||
            !is_next(index, size, strings + get32(entry + 8))) {
            type_index_release(index);
            return false;
        }
        type_index_add(index, strings + get32(entry + 8), size);
    }
    ENSURE_VALID(type_index_is_valid(index));
    return true;
}

void
type_cache_format(const struct type_index *index, const uint8_t *id, uint32_t id_bytes,
                  struct strbuf *out)
{
    uint32_t *offsets = xmalloc((index->names.count + 1) * sizeof *offsets);
    uint8_t id_field[ID_MAX] = {0};
    struct strbuf strings = {0};
    size_t start = out->length;
    uint64_t hash;

    memset(offsets, 0xff, (index->names.count + 1) * sizeof *offsets);
    memcpy(id_field, id, id_bytes < ID_MAX ? id_bytes : ID_MAX);
    for (size_t i = 0; i < index->count; i++) {
        const char *name = strtab_get(&index->names, index->v[i].name);

        if (offsets[index->v[i].name] == UINT32_MAX) {
            offsets[index->v[i].name] = (uint32_t)strings.length;
            strbuf_add(&strings, name, strlen(name) + 1);
        }
    }
    strbuf_add(out, MAGIC, 8);
    put64(out, 0);
    put32(out, FORMAT_VERSION);
    put32(out, (uint32_t)index->count);
    put32(out, (uint32_t)strings.length);
    put32(out, id_bytes);
    strbuf_add(out, id_field, ID_MAX);
    for (size_t i = 0; i < index->count; i++) {
        put64(out, index->v[i].size);
        put32(out, offsets[index->v[i].name]);
    }
    strbuf_add(out, strbuf_text(&strings), strings.length);
    hash = htole64(hash_bytes(out->text + start + HASHED_FROM, out->length - start - HASHED_FROM));
    memcpy(out->text + start + 8, &hash, sizeof hash);
    strbuf_release(&strings);
    free(offsets);
}

bool
type_cache_load(struct type_index *index, const char *path, const uint8_t *id, uint32_t id_bytes)
{
    int64_t written_unix_s;
    size_t size_bytes;
    void *data = symcache_read(KIND, path, id, id_bytes, &size_bytes, &written_unix_s);
    bool good = data != NULL && type_cache_parse(index, id, id_bytes, data, size_bytes);

    free(data);
    return good;
}

void
type_cache_store(const struct type_index *index, const char *path, const uint8_t *id,
                 uint32_t id_bytes)
{
    struct strbuf text = {0};

    type_cache_format(index, id, id_bytes, &text);
    symcache_write(KIND, path, id, id_bytes, &text);
    strbuf_release(&text);
}
