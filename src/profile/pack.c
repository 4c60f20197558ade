/* pack.c: the same container, made small.
 *
 * A packed file holds the recorder's tables as they were, each as one zstd segment, so nothing is
 * lost that a later version may want; the symbols and the types are four more tables (format.md,
 * section 5). The header's state says that it is packed. It is written beside the target and
 * renamed over it, so that a full disk or a crash leaves the original.
 */
#include "profile/pack.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "profile/origin.h"
#include "profile/raw.h"
#include "util/replace.h"
#include "util/strbuf.h"

enum { ZSTD_LEVEL = 3 };

struct packer {
    struct raw_file raw;
    const struct profile *p;
    struct arena arena;
    struct strbuf strings;         // The STRINGS table, symbol names appended.
    struct disk_string *string_of; // By string id of P; bytes 0 = not written yet.
    struct strbuf frames, locations, types, site_types;
    struct strbuf out; // The whole file.
    uint32_t segment_count;
};

static struct disk_string
put_string(struct packer *k, uint32_t id)
{
    const char *s = profile_string(k->p, id);

    if (id != 0 && k->string_of[id].bytes == 0) {
        k->string_of[id] = (struct disk_string){(uint32_t)k->strings.length, (uint32_t)strlen(s)};
        strbuf_str(&k->strings, s);
    }
    return k->string_of[id];
}

static void
put_location(struct packer *k, const struct profile_location *l)
{
    struct disk_location d = {
        .frame = l->address | (uint64_t)l->module << DISK_ADDRESS_BITS,
        .flags = l->exact ? DISK_NODE_EXACT : 0,
        .first_frame = (uint32_t)(k->frames.length / sizeof(struct disk_frame)),
        .frame_count = l->frame_count,
    };

    for (uint32_t i = 0; i < l->frame_count; i++) {
        const struct profile_frame *f = &k->p->frames[l->first_frame + i];
        struct disk_frame frame = {
            .function = put_string(k, f->function),
            .linkage = put_string(k, f->linkage),
            .file = put_string(k, f->file),
            .line = f->line,
            .inlined = f->inlined,
        };

        strbuf_add(&k->frames, &frame, sizeof frame);
    }
    strbuf_add(&k->locations, &d, sizeof d);
}

static void
collect_types(struct packer *k)
{
    for (size_t i = 0; i < k->p->type_count; i++) {
        struct disk_type d = {k->p->types[i].size, put_string(k, k->p->types[i].name)};

        strbuf_add(&k->types, &d, sizeof d);
    }
    for (size_t i = 0; i < k->p->site_count; i++) {
        const struct profile_site *site = &k->p->sites[i];
        struct disk_site_type d = {site->id, site->verdict, put_string(k, site->type)};

        if (site->id != 0 && site->verdict != VERDICT_UNKNOWN)
            strbuf_add(&k->site_types, &d, sizeof d);
    }
}

static void
collect_symbols(struct packer *k)
{
    const struct raw_table *t = &k->raw.tables[DISK_STRINGS];

    strbuf_add(&k->strings, t->bytes, t->size_bytes);
    k->string_of = arena_array(&k->arena, k->p->strings.count + 1, sizeof *k->string_of);
    for (size_t i = 1; k->p->symbolised && i < k->p->location_count; i++)
        put_location(k, &k->p->locations[i]);
    if (k->p->typed)
        collect_types(k);
}

/* Append one compressed segment; empty tables are left out. */
static int
put_segment(struct packer *k, enum disk_kind kind, const void *bytes, size_t size_bytes,
            uint32_t record_bytes, struct err *err)
{
    struct disk_segment s = {
        .kind = kind, .flags = DISK_SEGMENT_ZSTD, .record_bytes = record_bytes};
    size_t bound = ZSTD_compressBound(size_bytes);
    size_t stored;
    void *buffer;

    if (size_bytes == 0)
        return 0;
    buffer = xmalloc(bound);
    stored = ZSTD_compress(buffer, bound, bytes, size_bytes, ZSTD_LEVEL);
    if (ZSTD_isError(stored)) {
        free(buffer);
        return err_set(err, HEAPTAP_BUG, "cannot compress: %s", ZSTD_getErrorName(stored));
    }
    s.off = k->out.length;
    s.stored_bytes = stored;
    s.bytes = size_bytes;
    strbuf_add(&k->out, buffer, stored);
    while (k->out.length % 8 != 0)
        strbuf_char(&k->out, '\0');
    memcpy(k->out.text + DISK_DIRECTORY_OFF + sizeof s * k->segment_count++, &s, sizeof s);
    free(buffer);
    return 0;
}

/* The bytes of table T up to the last record that is not all zero. */
static size_t
used_bytes(const struct raw_table *t)
{
    size_t used = t->size_bytes;

    while (used > 0 && t->bytes[used - 1] == 0)
        used--;
    return t->record_bytes ? (used + t->record_bytes - 1) / t->record_bytes * t->record_bytes : 0;
}

static int
build(struct packer *k, struct err *err)
{
    static const enum disk_kind as_they_are[] = {
        DISK_MODULES,  DISK_NODES,         DISK_COUNTERS, DISK_THREADS, DISK_BINS,
        DISK_TIMELINE, DISK_UNKNOWN_FREES, DISK_PHASES,   DISK_ERRORS,  DISK_SNAPSHOTS,
        DISK_HISTORY,  DISK_HEAPS,         DISK_LABELS};
    struct disk_header header = k->raw.header;
    char *front = arena_alloc(&k->arena, DISK_DATA_OFF);
    int r = 0;

    header.state = DISK_STATE_PACKED;
    if (k->p->process.ended)
        header.process_flags |= DISK_PROCESS_GONE;
    memcpy(front, &header, sizeof header);
    strbuf_add(&k->out, front, DISK_DATA_OFF);
    collect_symbols(k);
    for (size_t i = 0; i < countof(as_they_are) && r == 0; i++) {
        const struct raw_table *t = &k->raw.tables[as_they_are[i]];
        size_t bytes = used_bytes(t);

        r = put_segment(k, as_they_are[i], t->bytes, bytes < t->size_bytes ? bytes : t->size_bytes,
                        t->record_bytes, err);
    }
    if (r == 0)
        r = put_segment(k, DISK_STRINGS, k->strings.text, k->strings.length, 1, err);
    if (r == 0)
        r = put_segment(k, DISK_FRAMES, k->frames.text, k->frames.length, sizeof(struct disk_frame),
                        err);
    if (r == 0)
        r = put_segment(k, DISK_LOCATIONS, k->locations.text, k->locations.length,
                        sizeof(struct disk_location), err);
    if (r == 0)
        r = put_segment(k, DISK_TYPES, k->types.text, k->types.length, sizeof(struct disk_type),
                        err);
    if (r == 0)
        r = put_segment(k, DISK_SITE_TYPES, k->site_types.text, k->site_types.length,
                        sizeof(struct disk_site_type), err);
    return r;
}

int
pack_write(const char *in_path, const struct profile *p, const char *out_path, struct err *err)
{
    struct packer k = {.p = p};
    size_t size_bytes;
    void *data;
    int r = 0;

    if (!p->process.ended && strcmp(in_path, out_path) == 0)
        r = err_set(err, HEAPTAP_BAD_INPUT,
                    "process %u still writes %s; pack it when it has ended, or into another "
                    "file with -o",
                    p->process.pid, in_path);
    if (r == 0)
        r = origin_read(in_path, &k.arena, &data, &size_bytes, err);
    if (r == 0)
        r = raw_parse(data, size_bytes, in_path, &k.arena, &k.raw, err);
    if (r == 0)
        r = build(&k, err);
    if (r == 0 && !replace_file(out_path, k.out.text, k.out.length))
        r = err_errno(err, HEAPTAP_BAD_INPUT, "cannot write %s", out_path);
    strbuf_release(&k.strings);
    strbuf_release(&k.frames);
    strbuf_release(&k.locations);
    strbuf_release(&k.types);
    strbuf_release(&k.site_types);
    strbuf_release(&k.out);
    arena_release(&k.arena);
    return r;
}
