/* fuzz_fact_cache.c: parse any bytes as a cache file of facts about calls. Each input is parsed
 * unchanged, and also with correct magic, versions, build id and checksum, so that the data behind
 * them is reached. An accepted cache must survive a round trip: written, read and written again, it
 * has the same bytes. */
/* covers: fact_cache.c */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "refused.h"
#include "type/fact_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD_BYTES = 72, ID_BYTES = 20 };

static const uint8_t id[ID_BYTES] = "facts-cache-fuzzing!";

/* Return true if DATA is accepted. */
static bool
fact_cache_try_parse(const uint8_t *data, size_t size)
{
    struct fact_cache c = {0}, again = {0};
    bool accepted = fact_cache_parse(&c, id, sizeof id, data, size);
    struct strbuf out = {0}, twice = {0};

    if (accepted) {
        fact_cache_format(&c, id, sizeof id, &out);
        if (!fact_cache_parse(&again, id, sizeof id, out.text, out.length))
            abort();
        fact_cache_format(&again, id, sizeof id, &twice);
        if (out.length != twice.length || memcmp(out.text, twice.text, out.length) != 0)
            abort();
    } else if (c.count != 0) {
        abort();
    }
    strbuf_release(&twice);
    strbuf_release(&out);
    fact_cache_release(&again);
    fact_cache_release(&c);
    return accepted;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *fixed;
    uint64_t hash;
    bool accepted = fact_cache_try_parse(data, size);

    if (size < HEAD_BYTES)
        return REFUSED;
    fixed = malloc(size);
    if (fixed == NULL)
        return 0;
    memcpy(fixed, data, size);
    memcpy(fixed, "heaptapf", 8);
    memset(fixed + 16, 0, 8);
    fixed[16] = 1;
    fixed[20] = TYPE_FACTS_VERSION;
    memset(fixed + 36, 0, HEAD_BYTES - 36);
    fixed[36] = ID_BYTES;
    memcpy(fixed + 40, id, sizeof id);
    hash = hash_bytes(fixed + 16, size - 16);
    memcpy(fixed + 8, &hash, sizeof hash);
    accepted |= fact_cache_try_parse(fixed, size);
    free(fixed);
    return accepted ? 0 : REFUSED;
}
