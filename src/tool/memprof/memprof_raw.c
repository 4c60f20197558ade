/* memprof_raw.c: write raw memory profiles of LLVM, version 3. llvm-profdata from 17 on converts
 * them to the input of clang's -fmemory-profile-use=.
 *
 *     header      magic, version, total size, offsets of the three parts           6 words
 *     segments    count, then for each: start, end, load bias, build id           64 bytes each
 *     blocks      count, then for each stack: its number and the sums             140 bytes each
 *     stacks      count, then for each: its number, depth and addresses, innermost first
 *
 * Numbers are little-endian and packed, and each part is rounded up to a word. Each older version
 * is read by only one release of LLVM. Newer versions add counts for each 8 bytes that saturate at
 * 255 or lose digits; our counts by granule do not fit them.
 *
 * A record is a stack. The format has no heaps or labels, so a record covers blocks of all heaps,
 * labels and size classes. Stacks are not symbolised, because the reader does that. Like
 * compiler-rt's runtime, the writer uses the addresses of the call instructions. The reader uses
 * one binary, which it finds by its build id, and ignores frames of all others. The number of a
 * type, which no other writer fills in, is a hash of the type's name.
 *
 * Times are milliseconds, and 32-bit numbers saturate. The format has no field for utilisation. */
#include "memprof/memprof_raw.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "export/module_map.h"
#include "util/map.h"

#define MEMPROF_MAGIC UINT64_C(0xff6d70726f667281)

enum {
    MEMPROF_VERSION = 3,
    HEADER_WORDS = 6,
    BUILD_ID_BYTES = 32,
    US_PER_MS = 1000,
};

struct writer {
    const struct profile *p;
    struct strbuf segments, records, stacks;
};

static void
put_u32(struct strbuf *out, uint64_t x)
{
    uint32_t value = x < UINT32_MAX ? (uint32_t)x : UINT32_MAX;

    strbuf_add(out, &value, sizeof value);
}

static void
put_u64(struct strbuf *out, uint64_t x)
{
    strbuf_add(out, &x, sizeof x);
}

static void
put_padding(struct strbuf *out)
{
    while (out->length % 8 != 0)
        strbuf_char(out, '\0');
}

static void
put_segments(struct writer *w)
{
    const struct profile *p = w->p;
    uint32_t *order = xcalloc(p->module_count, sizeof *order);
    size_t modules = module_order(p, order);
    struct strbuf rows = {0};
    uint64_t count = 0;

    for (size_t i = 0; i < modules; i++) {
        const struct profile_module *m = &p->modules[order[i]];
        struct module_segment code[MODULE_SEGMENTS_MAX];
        size_t segments = module_code(p, m, code);

        for (size_t k = 0; k < segments; k++, count++) {
            put_u64(&rows, code[k].start);
            put_u64(&rows, code[k].end);
            put_u64(&rows, m->bias);
            put_u64(&rows, m->build_id_bytes);
            strbuf_add(&rows, m->build_id, BUILD_ID_BYTES);
        }
    }
    put_u64(&w->segments, count);
    strbuf_add(&w->segments, rows.text, rows.length);
    strbuf_release(&rows);
    free(order);
}

/* Return the minimum of RANGE; 0 without blocks. */
static uint64_t
memprof_raw_least(const struct access_range *range)
{
    return range->min == UINT64_MAX ? 0 : range->min;
}

static void
put_wide(struct strbuf *out, const struct access_range *range)
{
    put_u64(out, range->total);
    put_u64(out, memprof_raw_least(range));
    put_u64(out, range->max);
}

/* Append RANGE divided by UNIT: the total as 64 bits, the minimum and maximum as 32 bits. */
static void
put_narrow(struct strbuf *out, const struct access_range *range, uint64_t unit)
{
    put_u64(out, range->total / unit);
    put_u32(out, memprof_raw_least(range) / unit);
    put_u32(out, range->max / unit);
}

static void
put_record(struct writer *w, uint32_t node, const struct profile_access *a, const char *type)
{
    struct strbuf *out = &w->records;

    put_u64(out, node);
    put_u32(out, a->blocks);
    put_wide(out, &a->accesses);
    put_narrow(out, &a->size_bytes, 1);
    put_u32(out, a->alloc_us / US_PER_MS);
    put_u32(out, a->dealloc_us / US_PER_MS);
    put_narrow(out, &a->lifetime_us, US_PER_MS);
    put_u32(out, a->alloc_cpu);
    put_u32(out, a->dealloc_cpu);
    put_u32(out, a->migrated);
    put_u32(out, a->overlaps);
    put_u32(out, a->same_alloc_cpu);
    put_u32(out, a->same_dealloc_cpu);
    put_u64(out, *type != '\0' ? hash_bytes(type, strlen(type)) : 0);
    put_narrow(out, &a->density, 1);
    put_narrow(out, &a->lifetime_density, 1);
}

static void
memprof_raw_put_stack(struct writer *w, uint32_t node)
{
    const struct profile *p = w->p;
    uint64_t depth = 0;

    for (uint32_t n = node; n != 0; n = p->nodes[n].parent)
        depth++;
    put_u64(&w->stacks, node);
    put_u64(&w->stacks, depth);
    for (uint32_t n = node; n != 0; n = p->nodes[n].parent) {
        const struct profile_location *l = &p->locations[p->nodes[n].location];

        put_u64(&w->stacks, l->address - !l->exact);
    }
}

/* Sums over a stack's blocks, and their type; 0 if they have several. */
struct sum {
    uint32_t node, type;
    struct profile_access a;
};

/* Sum the sites of STACKS by node, in the order of sites. From ARENA. */
static struct sum *
sum_by_node(const struct profile *p, const struct stacks *stacks, struct arena *arena,
            size_t *ret_count)
{
    struct sum *v = arena_array(arena, p->accesses.count, sizeof *v);
    struct map known = {0};
    size_t count = 0;

    for (size_t i = 0; i < p->accesses.count; i++) {
        const struct profile_access *a = &p->accesses.v[i];
        const struct profile_site *site = &p->sites[a->site];
        uint64_t *index;
        bool is_new;

        // The node "other", for stacks without room, has no address that a reader would accept.
        if (stacks->site_stacks[a->site] == 0 || p->nodes[site->node].location == 0)
            continue;
        index = map_put(&known, site->node, &is_new);
        if (is_new) {
            *index = count;
            v[count++] = (struct sum){site->node, site->type, ACCESS_NONE};
        }
        access_add(&v[*index].a, a);
        if (v[*index].type != site->type)
            v[*index].type = 0;
    }
    map_release(&known);
    *ret_count = count;
    return v;
}

static void
put_header(const struct writer *w, struct strbuf *out)
{
    uint64_t segments = HEADER_WORDS * sizeof(uint64_t), records = segments + w->segments.length;
    uint64_t stacks = records + w->records.length;
    const uint64_t words[HEADER_WORDS] = {
        MEMPROF_MAGIC, MEMPROF_VERSION, stacks + w->stacks.length, segments, records, stacks};

    strbuf_add(out, words, sizeof words);
}

int
export_memprof(const struct profile *p, const struct stacks *stacks,
               const struct export_options *options, struct strbuf *out, struct err *err)
{
    struct writer w = {.p = p};
    struct arena arena = {0};
    struct strbuf *parts[] = {&w.segments, &w.records, &w.stacks};
    struct sum *v;
    size_t count;

    (void)options;
    if (p->accesses.granule_bytes == 0)
        return err_set(err, HEAPTAP_USAGE,
                       "memprof is about accesses, and this profile has none: build the program "
                       "with CC=\"heaptap cc\" and record it again (docs/guide/access.md)");
    v = sum_by_node(p, stacks, &arena, &count);
    put_segments(&w);
    put_u64(&w.records, count);
    put_u64(&w.stacks, count);
    for (size_t i = 0; i < count; i++) {
        put_record(&w, v[i].node, &v[i].a, profile_string(p, v[i].type));
        memprof_raw_put_stack(&w, v[i].node);
    }
    put_padding(&w.records);
    put_header(&w, out);
    for (size_t i = 0; i < countof(parts); i++) {
        strbuf_add(out, parts[i]->text, parts[i]->length);
        strbuf_release(parts[i]);
        strbuf_pause(out);
    }
    arena_release(&arena);
    return 0;
}
