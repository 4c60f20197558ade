/* fuzz_symcache.c: read any bytes as a symbol cache file. Each input is read unchanged, and also
 * with correct magic, build id and checksum, so that the tables behind them are reached. Every
 * frame of every entry of an accepted input is read, and writing the input again gives input that
 * is accepted as well. */
/* covers: symcache.c */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "refused.h"
#include "symbol/symcache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD_BYTES = 72, ID_BYTES = 20 };

static const uint8_t id[ID_BYTES] = "symbol-cache-fuzzing";

/* Keeps the reads below from being optimised away. */
static volatile size_t read_bytes;

static void
symcache_read_string(const char *s)
{
    if (s != NULL)
        read_bytes += strlen(s);
}

static void
read_everything(const struct symcache *c)
{
    for (size_t i = 0; i < c->entry_count; i++) {
        const struct symcache_entry *e = symcache_find(c, c->entries[i].address);
        const struct symbol_frame *f;

        if (e == NULL || e->frame_count == 0 || e->frame_count > SYMBOL_FRAMES_MAX)
            abort();
        f = &c->frames[e->first_frame];
        for (size_t k = 0; k < e->frame_count; k++) {
            symcache_read_string(f[k].function);
            symcache_read_string(f[k].linkage);
            symcache_read_string(f[k].file);
        }
    }
}

/* Return true if DATA is accepted. */
static bool
symcache_try_parse(const uint8_t *data, size_t size)
{
    struct symcache c = {0};
    struct symcache again = {0};
    bool accepted = symcache_parse(&c, id, sizeof id, data, size);
    struct strbuf out = {0};

    if (accepted) {
        read_everything(&c);
        symcache_format(&c, id, sizeof id, &out);
        if (!symcache_parse(&again, id, sizeof id, out.text, out.length)
            || again.entry_count != c.entry_count || again.frame_count != c.frame_count)
            abort();
        read_everything(&again);
    } else if (c.entry_count != 0 || c.frame_count != 0) {
        abort();
    }
    strbuf_release(&out);
    symcache_release(&again);
    symcache_release(&c);
    return accepted;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *fixed;
    uint64_t hash;
    bool accepted = symcache_try_parse(data, size);

    if (size < HEAD_BYTES)
        return REFUSED;
    fixed = malloc(size);
    if (fixed == NULL)
        return 0;
    memcpy(fixed, data, size);
    memcpy(fixed, "heaptaps", 8);
    memset(fixed + 36, 0, HEAD_BYTES - 36);
    fixed[36] = ID_BYTES;
    memcpy(fixed + 40, id, sizeof id);
    hash = hash_bytes(fixed + 16, size - 16);
    memcpy(fixed + 8, &hash, sizeof hash);
    accepted |= symcache_try_parse(fixed, size);
    free(fixed);
    return accepted ? 0 : REFUSED;
}
