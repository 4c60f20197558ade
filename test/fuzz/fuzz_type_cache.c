/* fuzz_type_cache.c: read any bytes as a file of a module's types. Each input is read unchanged,
 * and also with correct magic, build id and checksum, so that the data behind them is reached.
 * Accepted input is in order, and writing it again gives input that is accepted as well. */
/* covers: type_cache.c */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "refused.h"
#include "type/type_module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD_BYTES = 64, ID_BYTES = 20 };

static const uint8_t id[ID_BYTES] = "types-cache-fuzzing!";

/* Return true if DATA is accepted. */
static bool
type_cache_try_parse(const uint8_t *data, size_t size)
{
    struct type_index index = {0};
    struct type_index again = {0};
    bool accepted = type_cache_parse(&index, id, sizeof id, data, size);
    struct strbuf out = {0};

    if (accepted) {
        for (size_t i = 1; i < index.count; i++)
            if (index.v[i].size < index.v[i - 1].size)
                abort();
        type_cache_format(&index, id, sizeof id, &out);
        if (!type_cache_parse(&again, id, sizeof id, out.text, out.length) ||
            again.count != index.count)
            abort();
    } else if (index.count != 0) {
        abort();
    }
    strbuf_release(&out);
    type_index_release(&again);
    type_index_release(&index);
    return accepted;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *fixed;
    uint64_t hash;
    bool accepted = type_cache_try_parse(data, size);

    if (size < HEAD_BYTES)
        return REFUSED;
    fixed = malloc(size);
    if (fixed == NULL)
        return 0;
    memcpy(fixed, data, size);
    memcpy(fixed, "heaptapt", 8);
    memset(fixed + 28, 0, HEAD_BYTES - 28);
    fixed[28] = ID_BYTES;
    memcpy(fixed + 32, id, sizeof id);
    hash = hash_bytes(fixed + 16, size - 16);
    memcpy(fixed + 8, &hash, sizeof hash);
    accepted |= type_cache_try_parse(fixed, size);
    free(fixed);
    return accepted ? 0 : REFUSED;
}
