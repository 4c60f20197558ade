/* raw.c: read the container.
 *
 * The bytes are untrusted: another process may be writing them, a disk may have lost some, and an
 * attacker may have forged them. Every offset is checked against the file before use, and every
 * size against a limit. An invalid segment is skipped with a note. Only a bad header rejects the
 * file.
 *
 * Damage is a state that no recorder or tool leaves behind, even when its process is killed: a file
 * shorter than its directory claims, an invalid segment, a table that is missing or has a hole, a
 * wrong checksum. A recorder's file is complete at every instant and therefore cannot have a
 * checksum, so altered counters in it are not detected. A packed file has a checksum.
 *
 * Parsing has three steps: examine all segments, allocate each table once, fill the tables. With
 * compressed segments, holes or overlapping segments, few bytes can claim much memory. Therefore
 * the sum of all segments is limited by the size of the file. */
#include "profile/raw.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>

#include "base/hash.h"
#include "util/bytes.h"

/* Maximum hole in a table beyond the size of the part before it. Tables are dense, so larger holes
 * are rejected. */
#define HOLE_BYTES_MAX ((uint64_t)64 << 20)

/* Limit of all tables together: a fixed part, and a number of bytes per byte of the file. The
 * sparsest table is the bins: 290 MB with as many threads as the recorder follows, which compress
 * to nearly nothing in a packed file. A file that compresses even better ends with zeros
 * (raw_file_bytes_min). */
#define EXPANDED_BYTES_FREE ((uint64_t)384 << 20)
#define EXPANDED_BYTES_PER_BYTE 512

/* Limit of all strings together. In a forged file, every name could be the whole table. */
#define STRING_BYTES_MAX ((uint64_t)512 << 20)

enum { NOTES_MAX = 64, PAGE_BYTES = 4096 };

static const char *const kind_names[DISK_KINDS] = {
    [DISK_STRINGS] = "strings",
    [DISK_MODULES] = "modules",
    [DISK_NODES] = "nodes",
    [DISK_COUNTERS] = "counters",
    [DISK_THREADS] = "threads",
    [DISK_BINS] = "bins",
    [DISK_TIMELINE] = "timeline",
    [DISK_FRAMES] = "frames",
    [DISK_LOCATIONS] = "locations",
    [DISK_UNKNOWN_FREES] = "unknown frees",
    [DISK_PHASES] = "phases",
    [DISK_ERRORS] = "errors",
    [DISK_SNAPSHOTS] = "snapshots",
    [DISK_TYPES] = "types",
    [DISK_SITE_TYPES] = "types of sites",
    [DISK_HISTORY] = "history",
    [DISK_HEAPS] = "heaps",
    [DISK_LABELS] = "labels",
    [DISK_PROGRAMS] = "programs",
    [DISK_NOTES] = "notes",
    [DISK_ACCESS] = "access",
    [DISK_FIELDS] = "fields",
    [DISK_NAMED] = "named frames",
    [DISK_CORRUPTIONS] = "damages",
};

static const uint32_t record_bytes_min[DISK_KINDS] = {
    [DISK_STRINGS] = 1,
    [DISK_MODULES] = sizeof(struct disk_module),
    [DISK_NODES] = sizeof(struct disk_node),
    [DISK_COUNTERS] = sizeof(struct disk_block),
    [DISK_THREADS] = sizeof(struct disk_thread),
    [DISK_BINS] = sizeof(struct disk_bins),
    [DISK_TIMELINE] = sizeof(struct disk_time_point),
    [DISK_FRAMES] = DISK_FRAME_BYTES_MIN,
    [DISK_LOCATIONS] = sizeof(struct disk_location),
    [DISK_UNKNOWN_FREES] = sizeof(struct disk_unknown_free),
    [DISK_PHASES] = sizeof(struct disk_phase),
    [DISK_ERRORS] = sizeof(struct disk_error),
    [DISK_SNAPSHOTS] = sizeof(struct disk_snapshot),
    [DISK_TYPES] = sizeof(struct disk_type),
    [DISK_SITE_TYPES] = sizeof(struct disk_site_type),
    [DISK_HISTORY] = sizeof(struct disk_history),
    [DISK_HEAPS] = sizeof(struct disk_heap),
    [DISK_LABELS] = sizeof(struct disk_label_set),
    [DISK_PROGRAMS] = sizeof(struct disk_program),
    [DISK_NOTES] = sizeof(struct disk_note),
    [DISK_ACCESS] = sizeof(struct disk_access),
    [DISK_FIELDS] = sizeof(struct disk_fields),
    [DISK_NAMED] = sizeof(struct disk_named),
    [DISK_CORRUPTIONS] = sizeof(struct disk_corruption),
};

static const struct {
    uint32_t number;
    const char *name;
} machines[] = {
    {62, "x86_64"}, {183, "aarch64"}, {3, "i386"},  {8, "mips"},   {20, "ppc"},
    {21, "ppc64"},  {22, "s390"},     {40, "arm"},  {243, "riscv"},
};

const char *
raw_machine_name(uint32_t number)
{
    for (size_t i = 0; i < countof(machines); i++)
        if (machines[i].number == number)
            return machines[i].name;
    return "unknown";
}

uint32_t
raw_machine_number(const char *name)
{
    for (size_t i = 0; i < countof(machines); i++)
        if (strcmp(machines[i].name, name) == 0)
            return machines[i].number;
    return 0;
}

static const char *
add_note(struct raw_file *r, const char *format, va_list ap)
{
    char text[512];
    const char *kept;

    vsnprintf(text, sizeof text, format, ap);
    kept = arena_strdup(r->arena, text);
    arena_grow(r->arena, &r->notes, &r->note_capacity, r->note_count, sizeof *r->notes);
    r->notes[r->note_count++] = kept;
    return kept;
}

void
raw_note(struct raw_file *r, const char *format, ...)
{
    va_list ap;

    if (r->note_count >= NOTES_MAX)
        return;
    va_start(ap, format);
    add_note(r, format, ap);
    va_end(ap);
}

void
raw_damage(struct raw_file *r, const char *format, ...)
{
    va_list ap;

    r->damage_count++;
    if (r->note_count >= NOTES_MAX && r->first_damage != NULL)
        return;
    va_start(ap, format);
    const char *text = add_note(r, format, ap);
    va_end(ap);
    if (r->first_damage == NULL)
        r->first_damage = text;
}

const char *
raw_damage_text(const struct raw_file *r, struct arena *arena)
{
    if (r->needed_bytes > r->file_bytes)
        return arena_printf(arena, "is cut short: %" PRIu64 " of %" PRIu64 " bytes are there",
                            r->file_bytes, r->needed_bytes);
    if (r->damage_count == 0)
        return NULL;
    return arena_printf(arena, "is damaged: %s%s", r->first_damage,
                        r->damage_count == 1   ? ""
                        : r->damage_count == 2 ? ", and one more problem"
                                               : arena_printf(arena, ", and %zu more problems",
                                                              r->damage_count - 1));
}

uint64_t
raw_check(const void *data, size_t size_bytes)
{
    struct disk_header h;
    uint64_t check;

    memcpy(&h, data, sizeof h);
    h.check = 0;
    check = hash_u64(hash_bytes(&h, sizeof h) + hash_bytes((const unsigned char *)data + sizeof h,
                                                           size_bytes - sizeof h));
    return check != 0 ? check : 1;
}

size_t
raw_count(const struct raw_file *r, enum disk_kind kind)
{
    const struct raw_table *t = &r->tables[kind];

    return t->record_bytes ? (size_t)(t->size_bytes / t->record_bytes) : 0;
}

void *
raw_change(struct raw_file *r, enum disk_kind kind, size_t i)
{
    return r->tables[kind].bytes + i * r->tables[kind].record_bytes;
}

const char *
raw_string(struct raw_file *r, struct disk_string s)
{
    const struct raw_table *t = &r->tables[DISK_STRINGS];

    if (s.bytes == 0 || s.off > t->size_bytes || s.bytes > t->size_bytes - s.off)
        return "";
    if (s.bytes > STRING_BYTES_MAX - r->string_bytes) {
        if (r->string_bytes != STRING_BYTES_MAX)
            raw_damage(r, "its names are too long together; some are left out");
        r->string_bytes = STRING_BYTES_MAX;
        return "";
    }
    r->string_bytes += s.bytes;
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
                       "%s is cut short: it has %zu of at least %d bytes", name,
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

uint64_t
raw_file_bytes_min(uint64_t tables_bytes)
{
    return tables_bytes <= EXPANDED_BYTES_FREE
               ? 0
               : (tables_bytes - EXPANDED_BYTES_FREE + EXPANDED_BYTES_PER_BYTE - 1) /
                     EXPANDED_BYTES_PER_BYTE;
}

/* Segments of a file that is being parsed. */
struct segments {
    const unsigned char *data;
    unsigned char *mapped; // DATA, if it is a mapping of FD; otherwise NULL.
    size_t size_bytes;
    int fd;
    const struct file_parts *used;
    uint64_t left_bytes; // Remaining bytes for further segments.
    struct disk_segment v[DISK_SEGMENT_MAX];
    bool taken[DISK_SEGMENT_MAX];
};

/* Extend table T for segment I, including a hole before the segment. Return NULL, or the error. */
static const char *
plan_segment(struct segments *all, struct raw_table *t, uint32_t i)
{
    const struct disk_segment *s = &all->v[i];
    uint64_t end = s->table_off + s->bytes;
    uint64_t hole_bytes = s->table_off > t->size_bytes ? s->table_off - t->size_bytes : 0;

    if (end > DISK_TABLE_BYTES_MAX)
        return "its table would be too large";
    if (s->bytes + hole_bytes > all->left_bytes)
        return "it claims more than a file of this size can hold";
    all->left_bytes -= s->bytes + hole_bytes;
    if (end > t->size_bytes)
        t->size_bytes = end;
    t->record_bytes = s->record_bytes;
    all->taken[i] = true;
    return NULL;
}

/* Return a description of the error in segment I; NULL if it may be valid. */
static const char *
look_at_segment(struct segments *all, struct raw_table *t, uint32_t i)
{
    struct disk_segment *s = &all->v[i];
    const char *problem;
    bool cut = false;

    if (s->record_bytes < record_bytes_min[s->kind] || s->record_bytes > 1 << 20 ||
        (s->record_bytes % 8 != 0 && s->kind != DISK_STRINGS))
        return "its records have an impossible size";
    if ((s->flags & ~(uint32_t)DISK_SEGMENT_KNOWN) != 0 ||
        ((s->flags & DISK_SEGMENT_COLUMNS) &&
         (!(s->flags & DISK_SEGMENT_ZSTD) || s->bytes % s->record_bytes != 0)))
        return "it is stored in an unknown way";
    if (t->record_bytes != 0 && t->record_bytes != s->record_bytes)
        return "its records differ in size from those before";
    if (s->off < DISK_DATA_OFF || s->off > all->size_bytes)
        return "it lies outside the file";
    if (s->stored_bytes > all->size_bytes - s->off) {
        if (s->flags & DISK_SEGMENT_ZSTD)
            return "the file is cut short";
        s->stored_bytes = s->bytes = all->size_bytes - s->off;
        cut = true;
    }
    if (!(s->flags & DISK_SEGMENT_ZSTD) && s->bytes != s->stored_bytes)
        return "its two sizes differ";
    if (s->bytes > DISK_TABLE_BYTES_MAX || s->table_off > DISK_TABLE_BYTES_MAX ||
        s->table_off > t->size_bytes + HOLE_BYTES_MAX)
        return "it has no place in its table";
    if ((s->flags & DISK_SEGMENT_ZSTD) &&
        (s->stored_bytes < 4 ||
         ZSTD_getFrameContentSize(all->data + s->off, s->stored_bytes) != s->bytes))
        return "its compressed data is damaged";
    if (s->bytes == 0)
        return cut ? "the file is cut short before it" : NULL;
    problem = plan_segment(all, t, i);
    return problem == NULL && cut ? "the file is cut short; the rest was used" : problem;
}

/* Convert COLUMNS, which has all first bytes, then all second bytes and so on, to RECORDS. */
static void
turn(const unsigned char *columns, uint64_t size_bytes, uint32_t record_bytes,
     unsigned char *records)
{
    uint64_t count = size_bytes / record_bytes;

    for (uint32_t i = 0; i < record_bytes; i++)
        for (uint64_t k = 0; k < count; k++)
            records[k * record_bytes + i] = *columns++;
}

static bool
raw_expand(const struct segments *all, const struct disk_segment *s, unsigned char *to)
{
    return ZSTD_decompress(to, s->bytes, all->data + s->off, s->stored_bytes) == s->bytes;
}

/* Copy segment S to table T, which is zero. The unused rest of a reserve must take neither time nor
 * memory. */
static void
copy_segment(const struct segments *all, struct raw_table *t, const struct disk_segment *s)
{
    const struct file_part whole = {0, UINT64_MAX};
    const struct file_part *parts = all->used->known ? all->used->v : &whole;
    size_t count = all->used->known ? all->used->count : 1;

    for (size_t i = 0; i < count; i++) {
        uint64_t from = parts[i].from > s->off ? parts[i].from : s->off;
        uint64_t end = parts[i].end < s->off + s->bytes ? parts[i].end : s->off + s->bytes;

        if (from < end)
            bytes_copy_used(t->bytes + s->table_off + (from - s->off), all->data + from,
                            end - from);
    }
}

static bool
fill_segment(const struct segments *all, struct raw_table *t, const struct disk_segment *s)
{
    unsigned char *columns;
    bool ok;

    if (s->flags & DISK_SEGMENT_COLUMNS) {
        columns = xmalloc(s->bytes);
        ok = raw_expand(all, s, columns);
        if (ok)
            turn(columns, s->bytes, s->record_bytes, t->bytes + s->table_off);
        free(columns);
        return ok;
    }
    if (s->flags & DISK_SEGMENT_ZSTD)
        return raw_expand(all, s, t->bytes + s->table_off);
    copy_segment(all, t, s);
    return true;
}

static void
note_segment(struct raw_file *r, const struct segments *all, uint32_t i, const char *problem)
{
    raw_damage(r, "segment %u (%s): %s", i, kind_names[all->v[i].kind], problem);
}

static bool
raw_is_taken(const struct segments *all, uint32_t i, uint32_t kind)
{
    return all->taken[i] && all->v[i].kind == kind;
}

/* Return true if no other segment shares bytes with segment INDEX. In a damaged file, shared bytes
 * would let a change in one table alter another that was already checked. */
static bool
is_separate(const struct segments *all, uint32_t index)
{
    const struct disk_segment *s = &all->v[index];

    for (uint32_t i = 0; i < DISK_SEGMENT_MAX; i++)
        if (all->taken[i] && i != index && all->v[i].off < s->off + s->stored_bytes &&
            s->off < all->v[i].off + all->v[i].stored_bytes)
            return false;
    return true;
}

/* Use table KIND in place in the mapped file if it is one segment, which holds for all tables of
 * a short run. Mapping each table would take two system calls, more time than all other work on
 * it. Return false if the table cannot be used in place. */
static bool
use_in_file(const struct segments *all, struct raw_table *t, uint32_t kind)
{
    uint32_t only = DISK_SEGMENT_MAX;
    const struct disk_segment *s;

    for (uint32_t i = 0; i < DISK_SEGMENT_MAX && all->mapped != NULL; i++) {
        if (!raw_is_taken(all, i, kind))
            continue;
        if (only < DISK_SEGMENT_MAX)
            return false;
        only = i;
    }
    if (only == DISK_SEGMENT_MAX)
        return false;
    s = &all->v[only];
    if (s->flags != 0 || s->table_off != 0 || s->off % PAGE_BYTES != 0 || !is_separate(all, only))
        return false;
    t->bytes = all->mapped + s->off;
    return true;
}

/* Return true if table KIND can be mapped: each of its segments consists of whole pages, except for
 * the end of the last. */
static bool
is_mappable(const struct segments *all, const struct raw_table *t, uint32_t kind)
{
    for (uint32_t i = 0; i < DISK_SEGMENT_MAX; i++) {
        const struct disk_segment *s = &all->v[i];

        if (raw_is_taken(all, i, kind) &&
            (s->flags != 0 || s->off % PAGE_BYTES != 0 || s->table_off % PAGE_BYTES != 0 ||
             (s->bytes % PAGE_BYTES != 0 && s->table_off + s->bytes != t->size_bytes)))
            return false;
    }
    return all->mapped != NULL;
}

/* Map table KIND, with holes as zeros. Return false, with nothing mapped, if that fails. */
static bool
map_table(const struct segments *all, struct raw_table *t, uint32_t kind)
{
    const int rights = PROT_READ | PROT_WRITE;
    unsigned char *at;

    if (!is_mappable(all, t, kind))
        return false;
    at = mmap(NULL, t->size_bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return false;
    for (uint32_t i = 0; i < DISK_SEGMENT_MAX; i++) {
        const struct disk_segment *s = &all->v[i];

        if (raw_is_taken(all, i, kind) &&
            mmap(at + s->table_off, s->bytes, rights, MAP_PRIVATE | MAP_FIXED, all->fd,
                 (off_t)s->off) == MAP_FAILED) {
            munmap(at, t->size_bytes);
            return false;
        }
    }
    t->bytes = at;
    t->mapped_bytes = t->size_bytes;
    return true;
}

void
raw_release(struct raw_file *r)
{
    for (uint32_t kind = 0; kind < DISK_KINDS; kind++)
        if (r->tables[kind].mapped_bytes > 0)
            munmap(r->tables[kind].bytes, r->tables[kind].mapped_bytes);
    if (r->mapped != NULL)
        munmap(r->mapped, r->file_bytes);
    *r = (struct raw_file){0};
}

/* Return the size that the file had, according to its directory. A damaged segment may claim any
 * offset. Therefore segments beyond the sum of all segments are ignored: no file is larger. */
static uint64_t
needed_bytes(const struct segments *all)
{
    uint64_t largest = 0, sum = DISK_DATA_OFF;

    for (uint32_t i = 0; i < DISK_SEGMENT_MAX; i++)
        if (all->v[i].kind != DISK_UNUSED && all->v[i].stored_bytes <= DISK_TABLE_BYTES_MAX)
            sum += round_up(all->v[i].stored_bytes, DISK_PAGE_BYTES);
    for (uint32_t i = 0; i < DISK_SEGMENT_MAX; i++) {
        const struct disk_segment *s = &all->v[i];

        if (s->kind != DISK_UNUSED && s->off <= sum && s->stored_bytes <= sum - s->off &&
            s->off + s->stored_bytes > largest)
            largest = s->off + s->stored_bytes;
    }
    return largest;
}

/* Add notes on tables that the directory lacks wholly or in part. */
static void
note_gaps(struct raw_file *r, const struct segments *all)
{
    static const enum disk_kind always[] = {DISK_STRINGS, DISK_MODULES, DISK_NODES, DISK_COUNTERS,
                                            DISK_THREADS};
    uint64_t bytes[DISK_KINDS] = {0};

    for (uint32_t i = 0; i < DISK_SEGMENT_MAX; i++)
        if (all->taken[i])
            bytes[all->v[i].kind] += all->v[i].bytes;
    for (uint32_t kind = 0; kind < DISK_KINDS; kind++)
        if (bytes[kind] != r->tables[kind].size_bytes)
            raw_damage(r, "table of %s: its segments %s", kind_names[kind],
                       bytes[kind] < r->tables[kind].size_bytes ? "leave a hole" : "overlap");
    // The loss of a segment was noted before.
    if (r->damage_count > 0 ||
        (r->header.state != DISK_STATE_RECORDING && r->header.state != DISK_STATE_ENDED))
        return;
    for (size_t i = 0; i < countof(always); i++)
        if (r->tables[always[i]].size_bytes == 0)
            raw_damage(r, "table of %s: it is missing", kind_names[always[i]]);
}

/* Return the number of bytes of segment S up to its last used byte. S is not compressed. */
static uint64_t
used_of_segment(const struct segments *all, const struct disk_segment *s)
{
    for (size_t i = all->used->count; i-- > 0;) {
        const struct file_part *part = &all->used->v[i];

        if (part->from < s->off + s->bytes && part->end > s->off)
            return part->end - s->off < s->bytes ? part->end - s->off : s->bytes;
    }
    return 0;
}

/* Return the end of the used bytes of table KIND. */
static uint64_t
used_bytes(const struct segments *all, uint32_t kind)
{
    uint64_t end, largest = 0;

    for (uint32_t i = 0; i < DISK_SEGMENT_MAX; i++) {
        const struct disk_segment *s = &all->v[i];

        if (!raw_is_taken(all, i, kind))
            continue;
        end = s->table_off + (s->flags != 0 ? s->bytes : used_of_segment(all, s));
        if (end > largest)
            largest = end;
    }
    return largest;
}

/* Shorten the large tables to their used records. The loader visits each record of these tables,
 * and a reserve may have millions of unused ones. */
static void
cut_unused(struct raw_file *r, const struct segments *all)
{
    static const enum disk_kind large[] = {DISK_NODES, DISK_COUNTERS, DISK_HISTORY};

    for (size_t i = 0; i < countof(large) && all->used->known; i++) {
        struct raw_table *t = &r->tables[large[i]];
        uint64_t bytes;

        if (t->record_bytes == 0)
            continue;
        // The size of a record need not be a power of two.
        bytes = (used_bytes(all, large[i]) + t->record_bytes - 1) / t->record_bytes *
                t->record_bytes;
        if (bytes < t->size_bytes)
            t->size_bytes = bytes;
    }
}

static void
take_segments(struct raw_file *r, struct segments *all)
{
    memcpy(all->v, all->data + DISK_DIRECTORY_OFF, sizeof all->v);
    r->needed_bytes = needed_bytes(all);
    for (uint32_t i = 0; i < DISK_SEGMENT_MAX; i++) {
        uint32_t kind = all->v[i].kind;
        const char *problem;

        if (kind == DISK_UNUSED || kind >= DISK_KINDS || record_bytes_min[kind] == 0)
            continue; // The segment is not written yet, or belongs to a later version.
        problem = look_at_segment(all, &r->tables[kind], i);
        if (problem != NULL)
            note_segment(r, all, i, problem);
    }
    for (uint32_t kind = 0; kind < DISK_KINDS; kind++) {
        struct raw_table *t = &r->tables[kind];

        if (t->size_bytes == 0)
            continue;
        t->in_place = use_in_file(all, t, kind) || map_table(all, t, kind);
        if (!t->in_place)
            t->bytes = arena_alloc(r->arena, t->size_bytes);
    }
    for (uint32_t i = 0; i < DISK_SEGMENT_MAX; i++)
        if (all->taken[i] && !r->tables[all->v[i].kind].in_place &&
            !fill_segment(all, &r->tables[all->v[i].kind], &all->v[i]))
            note_segment(r, all, i, "its compressed data is damaged");
    note_gaps(r, all);
    cut_unused(r, all);
}

/* Parse DATA, which is MAPPED from FD; or a copy, if MAPPED is NULL. */
static int
raw_parse_buffer(const void *data, size_t size_bytes, void *mapped, int fd,
                 const struct file_parts *used, const char *name, struct arena *arena,
                 struct raw_file *ret, struct err *err)
{
    struct segments all = {
        .data = data, .mapped = mapped, .size_bytes = size_bytes, .fd = fd, .used = used};
    int r;

    *ret = (struct raw_file){.arena = arena, .file_bytes = size_bytes, .mapped = mapped};
    r = parse_header(data, size_bytes, name, ret, err);
    if (r < 0)
        return r;
    all.left_bytes = EXPANDED_BYTES_FREE + (uint64_t)size_bytes * EXPANDED_BYTES_PER_BYTE;
    take_segments(ret, &all);
    if (ret->header.state > DISK_STATE_PACKED)
        raw_damage(ret, "its state is unknown");
    if (ret->header.check != 0 ? ret->header.check != raw_check(data, size_bytes)
                               : (ret->header.compatible & DISK_COMPATIBLE_CHECK) != 0)
        raw_damage(ret, "it has changed since it was packed: its check does not match");
    if (ret->header.process_flags & DISK_PROCESS_IN_MEMORY)
        raw_note(ret, "it is a copy of memory (--self-contained-core) that may lack the latest "
                      "events; heaptap core has them, from a core dump or with --pid");
    return 0;
}

int
raw_parse_file(void *data, size_t size_bytes, int fd, const struct file_parts *used,
               const char *name, struct arena *arena, struct raw_file *ret, struct err *err)
{
    return raw_parse_buffer(data, size_bytes, fd >= 0 ? data : NULL, fd, used, name, arena, ret,
                            err);
}

int
raw_parse(const void *data, size_t size_bytes, const char *name, struct arena *arena,
          struct raw_file *ret, struct err *err)
{
    const struct file_parts all = {.known = false};

    return raw_parse_buffer(data, size_bytes, NULL, -1, &all, name, arena, ret, err);
}
