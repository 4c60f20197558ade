/* fact_cache.c: cache the facts about calls in a file beside the symbol cache (symcache.c has the
 * rules of trust and location).
 *
 * A program that runs for a millisecond allocates in the C library. If the library's debug
 * information is installed, it takes fifty milliseconds to decompress, for about a hundred calls
 * that are the same in every program. Therefore facts are cached by the address of the call. They
 * also depend on names and source text, which the caller hashes into the stamp.
 *
 * The file, all integers little-endian:
 *
 *     offset  0  8   magic "heaptapf"
 *             8  8   checksum of everything from offset 16 on (hash_bytes)
 *            16  4   version, FORMAT_VERSION
 *            20  4   TYPE_FACTS_VERSION
 *            24  4   entries E
 *            28  4   bytes of the entries B
 *            32  4   string bytes S
 *            36  4   build id bytes, at most 32
 *            40 32   build id, the rest zero
 *            72  B   entries, in any order
 *                S   strings, each ended by a NUL
 *
 * An entry: u64 address, u64 stamp, u32 levels L, u32 facts F, L times u8 (1: the function takes a
 * size, 2: it passes memory on), F times 28 bytes: u32 name (offset into the strings), u64 size,
 * u64 offset of the tail, u32 flags (1 aggregate, 2 head, 4 tail), u32 level + 256 * evidence. */
#include "type/fact_cache.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "symbol/symcache.h"
#include "util/bytes.h"

enum {
    FORMAT_VERSION = 1,
    ID_MAX = 32,
    HEAD_BYTES = 72,
    HASHED_FROM = 16,
    ENTRY_BYTES = 24,
    FACT_BYTES = 28,
    ENTRIES_MAX = 1 << 16,
    FACTS_MAX = 1 << 12, // Maximum number of facts about one call.
    LEVEL_TAKES_SIZE = 1,
    LEVEL_PASSES_ON = 2,
    FACT_AGGREGATE = 1,
    FACT_HEAD = 2,
    FACT_TAIL = 4,
};

#define MAGIC "heaptapf"
#define KIND "facts-"

struct fact_cache_entry {
    uint64_t address, stamp;
    struct type_facts facts;
};

static uint64_t
fact_cache_key_of(uint64_t address, uint64_t stamp)
{
    return hash_u64(address ^ hash_u64(stamp));
}

bool
fact_cache_find(const struct fact_cache *c, uint64_t address, uint64_t stamp,
                struct type_facts *ret)
{
    const uint64_t *index = map_get(&c->by_call, fact_cache_key_of(address, stamp));
    const struct fact_cache_entry *e = index != NULL ? &c->entries[*index - 1] : NULL;

    if (e == NULL || e->address != address || e->stamp != stamp)
        return false;
    *ret = e->facts;
    ret->capacity = ret->count; // Adding facts allocates a new array.
    return true;
}

/* Add an entry for the call to C, without facts, and return it. Return NULL if the call has an
 * entry, or if C is full. */
static struct type_facts *
fact_cache_add_entry(struct fact_cache *c, uint64_t address, uint64_t stamp)
{
    bool is_new;
    uint64_t *index = map_put(&c->by_call, fact_cache_key_of(address, stamp), &is_new);

    if (!is_new || c->count == ENTRIES_MAX)
        return NULL;
    arena_grow(&c->arena, &c->entries, &c->capacity, c->count, sizeof *c->entries);
    c->entries[c->count] = (struct fact_cache_entry){.address = address, .stamp = stamp};
    *index = ++c->count;
    return &c->entries[c->count - 1].facts;
}

void
fact_cache_add(struct fact_cache *c, uint64_t address, uint64_t stamp,
               const struct type_facts *facts)
{
    struct type_facts *to = c->count < ENTRIES_MAX && facts->count <= FACTS_MAX
                                ? fact_cache_add_entry(c, address, stamp)
                                : NULL;

    if (to == NULL)
        return;
    *to = *facts;
    to->v = arena_array(&c->arena, facts->count, sizeof *to->v);
    for (size_t i = 0; i < facts->count; i++) {
        to->v[i] = facts->v[i];
        to->v[i].name = arena_strdup(&c->arena, facts->v[i].name);
    }
    c->changed = true;
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* The rest of a file that is being read. */
struct reader {
    const uint8_t *at, *end;
    const char *strings;
    uint32_t string_bytes;
};

/* Return the next SIZE_BYTES; NULL if fewer are left. */
static const uint8_t *
fact_cache_take(struct reader *r, size_t size_bytes)
{
    const uint8_t *at = r->at;

    if ((size_t)(r->end - r->at) < size_bytes)
        return NULL;
    r->at += size_bytes;
    return at;
}

static bool
read_fact(struct reader *r, struct arena *arena, size_t level_count, struct type_fact *ret)
{
    const uint8_t *b = fact_cache_take(r, FACT_BYTES);
    uint32_t flags, how;

    if (b == NULL || get32(b) >= r->string_bytes)
        return false;
    flags = get32(b + 20);
    how = get32(b + 24);
    *ret = (struct type_fact){.name = arena_strdup(arena, r->strings + get32(b)),
                              .size = get64(b + 4),
                              .is_aggregate = flags & FACT_AGGREGATE,
                              .is_head = flags & FACT_HEAD,
                              .has_tail = flags & FACT_TAIL,
                              .tail_offset = get64(b + 12),
                              .level = (uint8_t)how,
                              .evidence = (uint8_t)(how >> 8)};
    return flags < 2 * FACT_TAIL && how >> 16 == 0 && ret->level < level_count &&
           ret->evidence > EVIDENCE_NONE && ret->evidence <= EVIDENCE_TEMPLATE;
}

static bool
read_levels(struct reader *r, size_t count, struct type_facts *ret)
{
    const uint8_t *levels = count <= SYMBOL_FRAMES_MAX ? fact_cache_take(r, count) : NULL;

    if (levels == NULL)
        return false;
    ret->level_count = count;
    for (size_t i = 0; i < count; i++) {
        ret->takes_size[i] = levels[i] & LEVEL_TAKES_SIZE;
        ret->passes_on[i] = levels[i] & LEVEL_PASSES_ON;
        if (levels[i] > (LEVEL_TAKES_SIZE | LEVEL_PASSES_ON))
            return false;
    }
    return true;
}

static bool
fact_cache_read_entry(struct reader *r, struct fact_cache *c)
{
    const uint8_t *b = fact_cache_take(r, ENTRY_BYTES);
    struct type_facts *facts;
    uint32_t count;

    if (b == NULL)
        return false;
    count = get32(b + 20);
    facts = fact_cache_add_entry(c, get64(b), get64(b + 8));
    if (facts == NULL || count > FACTS_MAX || !read_levels(r, get32(b + 16), facts) ||
        (size_t)(r->end - r->at) / FACT_BYTES < count)
        return false;
    facts->v = arena_array(&c->arena, count, sizeof *facts->v);
    for (; facts->count < count; facts->count++)
        if (!read_fact(r, &c->arena, facts->level_count, &facts->v[facts->count]))
            return false;
    return true;
}

/* Return true if DATA has a valid header for the build id ID, and the size that the header
 * implies. */
static bool
fact_cache_has_right_head(const uint8_t *id, uint32_t id_bytes, const uint8_t *data,
                          size_t size_bytes)
{
    uint8_t wanted_id[ID_MAX] = {0};

    if (size_bytes < HEAD_BYTES || id_bytes > ID_MAX)
        return false;
    memcpy(wanted_id, id, id_bytes);
    return memcmp(data, MAGIC, 8) == 0 && get32(data + 16) == FORMAT_VERSION &&
           get32(data + 20) == TYPE_FACTS_VERSION && get32(data + 36) == id_bytes &&
           memcmp(data + 40, wanted_id, ID_MAX) == 0 &&
           HEAD_BYTES + (uint64_t)get32(data + 28) + get32(data + 32) == size_bytes &&
           get64(data + 8) == hash_bytes(data + HASHED_FROM, size_bytes - HASHED_FROM);
}

bool
fact_cache_parse(struct fact_cache *c, const uint8_t *id, uint32_t id_bytes, const void *data,
                 size_t size_bytes)
{
    const uint8_t *bytes = data;
    struct reader r;
    bool good;

    if (!fact_cache_has_right_head(id, id_bytes, bytes, size_bytes))
        return false;
    r = (struct reader){.at = bytes + HEAD_BYTES,
                        .end = bytes + HEAD_BYTES + get32(bytes + 28),
                        .strings = (const char *)bytes + HEAD_BYTES + get32(bytes + 28),
                        .string_bytes = get32(bytes + 32)};
    good = r.string_bytes == 0 || r.strings[r.string_bytes - 1] == '\0';
    for (uint32_t i = 0; good && i < get32(bytes + 24); i++)
        good = fact_cache_read_entry(&r, c);
    if (good && r.at == r.end)
        return true;
    fact_cache_release(c);
    return false;
}

/* --- Writing ---------------------------------------------------------------------------------- */

/* Return the offset of NAME in STRINGS, added if new. */
static uint32_t
fact_cache_put_name(struct strbuf *strings, struct strtab *names, struct map *offsets,
                    const char *name)
{
    bool is_new;
    uint64_t *offset = map_put(offsets, strtab_id(names, name), &is_new);

    if (is_new) {
        *offset = strings->length;
        strbuf_add(strings, name, strlen(name) + 1);
    }
    return (uint32_t)*offset;
}

static void
put_fact(const struct type_fact *f, uint32_t name, struct strbuf *out)
{
    put32(out, name);
    put64(out, f->size);
    put64(out, f->tail_offset);
    put32(out, (uint32_t)(f->is_aggregate * FACT_AGGREGATE + f->is_head * FACT_HEAD +
                          f->has_tail * FACT_TAIL));
    put32(out, f->level | (uint32_t)f->evidence << 8);
}

/* Append the entries of C to OUT, and their names to STRINGS. */
static void
put_entries(const struct fact_cache *c, struct strbuf *out, struct strbuf *strings)
{
    struct strtab names = {0};
    struct map offsets = {0};

    for (size_t i = 0; i < c->count; i++) {
        const struct type_facts *facts = &c->entries[i].facts;

        put64(out, c->entries[i].address);
        put64(out, c->entries[i].stamp);
        put32(out, (uint32_t)facts->level_count);
        put32(out, (uint32_t)facts->count);
        for (size_t k = 0; k < facts->level_count; k++)
            strbuf_char(out, (char)(facts->takes_size[k] * LEVEL_TAKES_SIZE +
                                    facts->passes_on[k] * LEVEL_PASSES_ON));
        for (size_t k = 0; k < facts->count; k++)
            put_fact(&facts->v[k], fact_cache_put_name(strings, &names, &offsets, facts->v[k].name),
                     out);
    }
    map_release(&offsets);
    strtab_release(&names);
}

void
fact_cache_format(const struct fact_cache *c, const uint8_t *id, uint32_t id_bytes,
                  struct strbuf *out)
{
    struct strbuf entries = {0}, strings = {0};
    uint8_t id_field[ID_MAX] = {0};
    size_t start = out->length;
    uint64_t hash;

    memcpy(id_field, id, id_bytes < ID_MAX ? id_bytes : ID_MAX);
    put_entries(c, &entries, &strings);
    strbuf_add(out, MAGIC, 8);
    put64(out, 0);
    put32(out, FORMAT_VERSION);
    put32(out, TYPE_FACTS_VERSION);
    put32(out, (uint32_t)c->count);
    put32(out, (uint32_t)entries.length);
    put32(out, (uint32_t)strings.length);
    put32(out, id_bytes);
    strbuf_add(out, id_field, ID_MAX);
    strbuf_add(out, strbuf_text(&entries), entries.length);
    strbuf_add(out, strbuf_text(&strings), strings.length);
    hash = htole64(hash_bytes(out->text + start + HASHED_FROM, out->length - start - HASHED_FROM));
    memcpy(out->text + start + 8, &hash, sizeof hash);
    strbuf_release(&strings);
    strbuf_release(&entries);
}

void
fact_cache_load(struct fact_cache *c, const char *path, const uint8_t *id, uint32_t id_bytes)
{
    int64_t written_unix_s;
    size_t size_bytes;
    void *data = symcache_read(KIND, path, id, id_bytes, &size_bytes, &written_unix_s);

    if (data != NULL)
        fact_cache_parse(c, id, id_bytes, data, size_bytes);
    free(data);
}

void
fact_cache_store(const struct fact_cache *c, const char *path, const uint8_t *id, uint32_t id_bytes)
{
    struct strbuf text = {0};

    if (!c->changed)
        return;
    fact_cache_format(c, id, id_bytes, &text);
    symcache_write(KIND, path, id, id_bytes, &text);
    strbuf_release(&text);
}

void
fact_cache_release(struct fact_cache *c)
{
    map_release(&c->by_call);
    arena_release(&c->arena);
    *c = (struct fact_cache){0};
}
