/* raw.c: reading the container.
 *
 * The bytes are foreign: another process may be writing them, a disk may have lost some, a
 * stranger may have made them up. Every offset is checked against the file before it is used,
 * every size against a cap, and a segment that fails is left out with a note. Only a bad header
 * refuses the file.
 */
#include "profile/raw.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

/* More than any recorder writes (monitor/limits.h); keeps a forged file from taking the machine's
 * memory. */
#define TABLE_BYTES_MAX ((uint64_t)4 << 30)

enum { NOTES_MAX = 64 };

static const char *const kind_names[DISK_KINDS] = {
    [DISK_STRINGS] = "strings",     [DISK_MODULES] = "modules",
    [DISK_NODES] = "nodes",         [DISK_COUNTERS] = "counters",
    [DISK_THREADS] = "threads",     [DISK_BINS] = "bins",
    [DISK_TIMELINE] = "timeline",   [DISK_FRAMES] = "frames",
    [DISK_LOCATIONS] = "locations", [DISK_UNKNOWN_FREES] = "unknown frees",
};

static const uint32_t record_bytes_min[DISK_KINDS] = {
    [DISK_STRINGS] = 1,
    [DISK_MODULES] = sizeof(struct disk_module),
    [DISK_NODES] = sizeof(struct disk_node),
    [DISK_COUNTERS] = sizeof(struct disk_block),
    [DISK_THREADS] = sizeof(struct disk_thread),
    [DISK_BINS] = sizeof(struct disk_bins),
    [DISK_TIMELINE] = sizeof(struct disk_time_point),
    [DISK_FRAMES] = sizeof(struct disk_frame),
    [DISK_LOCATIONS] = sizeof(struct disk_location),
    [DISK_UNKNOWN_FREES] = sizeof(struct disk_unknown_free),
};

void
raw_note(struct raw_file *r, const char *format, ...)
{
    char text[512];
    va_list ap;

    if (r->note_count >= NOTES_MAX)
        return;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    arena_grow(r->arena, &r->notes, &r->note_capacity, r->note_count, sizeof *r->notes);
    r->notes[r->note_count++] = arena_strdup(r->arena, text);
}

size_t
raw_count(const struct raw_file *r, enum disk_kind kind)
{
    const struct raw_table *t = &r->tables[kind];

    return t->record_bytes ? (size_t)(t->size_bytes / t->record_bytes) : 0;
}

const void *
raw_record(const struct raw_file *r, enum disk_kind kind, size_t i)
{
    return r->tables[kind].bytes + i * r->tables[kind].record_bytes;
}

const char *
raw_string(const struct raw_file *r, struct disk_string s)
{
    const struct raw_table *t = &r->tables[DISK_STRINGS];

    if (s.bytes == 0 || s.off > t->size_bytes || s.bytes > t->size_bytes - s.off)
        return "";
    return arena_strndup(r->arena, (const char *)t->bytes + s.off, s.bytes);
}

static int
parse_header(const void *data, size_t size_bytes, const char *name, struct raw_file *r,
             struct err *err)
{
    struct disk_header *h = &r->header;

    if (size_bytes == 0)
        return err_set(err, HEAPTAP_BAD_INPUT, "%s is empty: it is not a heaptap profile", name);
    if (size_bytes < sizeof(uint64_t) ||
        memcmp(data, &(uint64_t){DISK_MAGIC}, sizeof(uint64_t)) != 0)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s is not a heaptap profile (its first bytes are not HEAPTAP)", name);
    if (size_bytes < DISK_DATA_OFF)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s is cut short: %zu bytes, but a profile has at least %d", name,
                       size_bytes, DISK_DATA_OFF);
    memcpy(h, data, sizeof *h);
    if (h->version != DISK_VERSION)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s has format version %u; this heaptap reads version %u", name, h->version,
                       DISK_VERSION);
    if (h->incompatible & ~(uint64_t)DISK_INCOMPATIBLE_KNOWN)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s needs features %#" PRIx64 " that this heaptap does not know; "
                       "use a newer one",
                       name, h->incompatible);
    return 0;
}

/* Make room in table T for bytes up to END. */
static bool
extend(struct raw_file *r, struct raw_table *t, uint64_t end)
{
    unsigned char *bigger;

    if (end > TABLE_BYTES_MAX)
        return false;
    if (end > t->capacity_bytes) {
        t->capacity_bytes = end > 2 * t->capacity_bytes ? end : 2 * t->capacity_bytes;
        bigger = arena_alloc(r->arena, t->capacity_bytes);
        if (t->size_bytes)
            memcpy(bigger, t->bytes, t->size_bytes);
        t->bytes = bigger;
    }
    if (end > t->size_bytes)
        t->size_bytes = end;
    return true;
}

static const char *
take_segment(struct raw_file *r, const unsigned char *data, size_t size_bytes,
             struct disk_segment s)
{
    struct raw_table *t = &r->tables[s.kind];
    bool cut = false;

    if (s.record_bytes < record_bytes_min[s.kind] || s.record_bytes > 1 << 20 ||
        (s.record_bytes % 8 != 0 && s.kind != DISK_STRINGS))
        return "its records have an impossible size";
    if (t->record_bytes != 0 && t->record_bytes != s.record_bytes)
        return "its records differ in size from those before";
    if (s.off < DISK_DATA_OFF || s.off > size_bytes)
        return "it lies outside the file";
    if (s.stored_bytes > size_bytes - s.off) {
        if (s.flags & DISK_SEGMENT_ZSTD)
            return "the file is cut short";
        s.stored_bytes = s.bytes = size_bytes - s.off;
        cut = true;
    }
    if (!(s.flags & DISK_SEGMENT_ZSTD) && s.bytes != s.stored_bytes)
        return "its two sizes differ";
    // Tables are dense: a hole is a segment that was lost, and that has its place in the file.
    if (s.bytes > TABLE_BYTES_MAX || s.table_off > TABLE_BYTES_MAX ||
        s.table_off > t->size_bytes + size_bytes)
        return "it has no place in its table";
    if ((s.flags & DISK_SEGMENT_ZSTD) &&
        (s.stored_bytes < 4 || ZSTD_getFrameContentSize(data + s.off, s.stored_bytes) != s.bytes))
        return "its compressed data is damaged";
    if (s.bytes == 0)
        return cut ? "the file is cut short before it" : NULL;
    if (!extend(r, t, s.table_off + s.bytes))
        return "its table would be too large";
    t->record_bytes = s.record_bytes;
    if (!(s.flags & DISK_SEGMENT_ZSTD))
        memcpy(t->bytes + s.table_off, data + s.off, s.bytes);
    else if (ZSTD_decompress(t->bytes + s.table_off, s.bytes, data + s.off, s.stored_bytes) !=
             s.bytes)
        return "its compressed data is damaged";
    return cut ? "the file is cut short; what is left was used" : NULL;
}

int
raw_parse(const void *data, size_t size_bytes, const char *name, struct arena *arena,
          struct raw_file *ret, struct err *err)
{
    const unsigned char *bytes = data;
    int r;

    *ret = (struct raw_file){.arena = arena, .file_bytes = size_bytes};
    r = parse_header(data, size_bytes, name, ret, err);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < DISK_SEGMENT_MAX; i++) {
        struct disk_segment s;
        const char *problem;

        memcpy(&s, bytes + DISK_DIRECTORY_OFF + i * sizeof s, sizeof s);
        if (s.kind == DISK_UNUSED || s.kind >= DISK_KINDS || record_bytes_min[s.kind] == 0)
            continue; // Not yet written, or of a later version.
        problem = take_segment(ret, bytes, size_bytes, s);
        if (problem != NULL)
            raw_note(ret, "segment %u (%s): %s", i, kind_names[s.kind], problem);
    }
    return 0;
}
