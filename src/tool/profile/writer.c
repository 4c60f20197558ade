/* writer.c: the container of packed files (format.md, section 5).
 *
 *     header ─ directory ─ zstd frame ─ zstd frame ─ …      one segment for each table
 *
 * Each table is one compressed segment. It is compressed as a stream, so a table is never in memory
 * as a whole; the file is, because it is small. The strings come last, because every other table
 * adds to them. The file is written beside the target and renamed over it, so a full disk or a
 * crash leaves the old file. Only a regular file is replaced: replacing a device node would destroy
 * it.
 *
 * The callers define the contents of the tables; the writer does not check them. */
#include "profile/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "profile/origin.h"
#include "profile/processes.h"
#include "profile/raw.h"
#include "util/bytes.h"
#include "util/replace.h"

enum {
    ZSTD_LEVEL = 3,
    // Level without codes for literals. For a small table these codes cost more than they save.
    ZSTD_LEVEL_SMALL = -1,
    SMALL_BYTES_MAX = 1 << 13, // Maximum size of a small table; a short process has ten of these.
    PIECE_BYTES = 1 << 16,
    WHOLE_BYTES_MAX = 1 << 20, // Maximum size of a table that is compressed by one call.
    COLUMNS_AT_ONCE = 8,
    LINE_BYTES = 64,         // Size and alignment of a cache line.
    CACHED_BYTES = 512 << 10, // Part of a cache that columns may use.
};

/* Return the compressor, which is reused for each file: clearing its tables for each of a thousand
 * small files takes a third of the time. Its output does not depend on earlier tables. */
static ZSTD_CCtx *
compressor(void)
{
    static ZSTD_CCtx *kept;

    if (kept == NULL)
        kept = ZSTD_createCCtx();
    return kept;
}

void
write_begin(struct writer *w, const struct profile *p)
{
    *w = (struct writer){.p = p, .zstd = compressor()};
    memset(strbuf_room(&w->out, PIECE_BYTES), 0, DISK_DATA_OFF);
    strbuf_grew(&w->out, DISK_DATA_OFF);
    if (w->zstd == NULL)
        w->failed = "no memory";
}

struct disk_string
write_text(struct writer *w, const char *text)
{
    struct disk_string s = {(uint32_t)w->strings.length, (uint32_t)strlen(text)};
    bool is_new;
    uint64_t *known = map_put(&w->known, (uintptr_t)text, &is_new);

    if (is_new) {
        strbuf_add(&w->strings, text, s.bytes);
        *known = s.off;
    }
    return (struct disk_string){(uint32_t)*known, s.bytes};
}

/* Return the place of the profile's string ID in the table of strings. Only valid after the last
 * write_text. */
static struct disk_string
writer_put_string(struct writer *w, uint32_t id)
{
    const char *text = profile_string(w->p, id);
    uint32_t bytes = (uint32_t)strlen(text);
    uint64_t *known, *off;

    if (w->place_of == NULL)
        w->place_of = arena_array(&w->arena, w->p->strings.count + 1, sizeof *w->place_of);
    known = &w->place_of[id < w->p->strings.count ? id : 0];
    if (*known == 0) {
        off = map_get(&w->known, (uintptr_t)text);
        *known = 1 + (off != NULL ? *off : w->strings.length);
        if (off == NULL)
            strbuf_add(&w->strings, text, bytes);
    }
    return (struct disk_string){(uint32_t)(*known - 1), bytes};
}

void
write_table_begin(struct writer *w, enum disk_kind kind, size_t size_bytes, uint32_t record_bytes)
{
    w->segment = (struct disk_segment){.kind = kind,
                                       .flags = DISK_SEGMENT_ZSTD,
                                       .off = w->out.length,
                                       .bytes = size_bytes,
                                       .record_bytes = record_bytes};
    if (w->failed != NULL)
        return;
    ZSTD_CCtx_reset(w->zstd, ZSTD_reset_session_only);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel,
                           size_bytes <= SMALL_BYTES_MAX ? ZSTD_LEVEL_SMALL : ZSTD_LEVEL);
    // A reader rejects frames without a size.
    ZSTD_CCtx_setPledgedSrcSize(w->zstd, size_bytes);
}

static void
compress(struct writer *w, const void *bytes, size_t size_bytes, ZSTD_EndDirective how)
{
    ZSTD_inBuffer in = {bytes, size_bytes, 0};
    // With room for the worst case, zstd needs no internal buffers.
    size_t room = size_bytes <= WHOLE_BYTES_MAX ? ZSTD_compressBound(size_bytes) : PIECE_BYTES;
    size_t left;

    do {
        ZSTD_outBuffer out = {strbuf_room(&w->out, room), room, 0};

        if (w->failed != NULL)
            return;
        left = ZSTD_compressStream2(w->zstd, &out, &in, how);
        if (ZSTD_isError(left))
            w->failed = ZSTD_getErrorName(left);
        strbuf_grew(&w->out, out.pos);
    } while (how == ZSTD_e_end ? left != 0 : in.pos < in.size);
}

void
write_table_more(struct writer *w, const void *bytes, size_t size_bytes)
{
    compress(w, bytes, size_bytes, ZSTD_e_continue);
}

/* Complete the segment: add its place to the directory. */
static void
end_segment(struct writer *w)
{
    w->segment.stored_bytes = w->out.length - w->segment.off;
    while (w->out.length % 8 != 0)
        strbuf_char(&w->out, '\0');
    memcpy(w->out.text + DISK_DIRECTORY_OFF + sizeof w->segment * w->segment_count++, &w->segment,
           sizeof w->segment);
}

void
write_table_end(struct writer *w)
{
    compress(w, NULL, 0, ZSTD_e_end);
    end_segment(w);
}

/* Exchange parts of A and B: the upper BITS of each group of 2 * BITS in A, and the lower BITS of
 * each group in B. MASK selects the lower ones. */
static inline void
writer_exchange(uint64_t *a, uint64_t *b, unsigned bits, uint64_t mask)
{
    uint64_t differ = (*a >> bits ^ *b) & mask;

    *b ^= differ;
    *a ^= differ << bits;
}

/* Transpose V, an 8 by 8 square of bytes whose rows have the first byte lowest. Halves of the
 * square are exchanged first, then halves of these, then single bytes. */
static inline void
turn_square(uint64_t v[COLUMNS_AT_ONCE])
{
    for (unsigned i = 0; i < 4; i++)
        writer_exchange(&v[i], &v[i + 4], 32, 0xffffffffu);
    for (unsigned i = 0; i < 8; i += 4) {
        writer_exchange(&v[i], &v[i + 2], 16, 0x0000ffff0000ffffu);
        writer_exchange(&v[i + 1], &v[i + 3], 16, 0x0000ffff0000ffffu);
    }
    for (unsigned i = 0; i < 8; i += 2)
        writer_exchange(&v[i], &v[i + 1], 8, 0x00ff00ff00ff00ffu);
}

#ifdef __SSE2__
enum { ROWS_BY_SSE = 16 };

/* Interleave the bytes of the first half of V with the bytes of the second half, like a card
 * shuffle. Unrolled by hand, as are the next two functions, because compilers keep the vectors of a
 * loop in memory. */
static inline void
shuffle(__m128i v[COLUMNS_AT_ONCE])
{
    __m128i a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];

    v[0] = _mm_unpacklo_epi8(a, e);
    v[1] = _mm_unpackhi_epi8(a, e);
    v[2] = _mm_unpacklo_epi8(b, f);
    v[3] = _mm_unpackhi_epi8(b, f);
    v[4] = _mm_unpacklo_epi8(c, g);
    v[5] = _mm_unpackhi_epi8(c, g);
    v[6] = _mm_unpacklo_epi8(d, h);
    v[7] = _mm_unpackhi_epi8(d, h);
}

/* Return the first eight bytes of the record at ROW, interleaved with the same bytes of the eighth
 * record after it. */
static inline __m128i
pair_of_rows(const unsigned char *row, size_t record_bytes)
{
    return _mm_unpacklo_epi8(
        _mm_loadl_epi64((const void *)row),
        _mm_loadl_epi64((const void *)(row + COLUMNS_AT_ONCE * record_bytes)));
}

/* Transpose ROWS_BY_SSE rows of eight bytes, RECORD_BYTES apart from ROWS on, into COLUMNS, which
 * are COUNT bytes apart. Each step interleaves the rows with those eight, four, two and one further
 * on. After the last step, the vectors are the columns. */
static inline void
turn_by_sse(const unsigned char *rows, size_t record_bytes, unsigned char *columns, size_t count)
{
    __m128i v[COLUMNS_AT_ONCE];

    v[0] = pair_of_rows(rows, record_bytes);
    v[1] = pair_of_rows(rows + record_bytes, record_bytes);
    v[2] = pair_of_rows(rows + 2 * record_bytes, record_bytes);
    v[3] = pair_of_rows(rows + 3 * record_bytes, record_bytes);
    v[4] = pair_of_rows(rows + 4 * record_bytes, record_bytes);
    v[5] = pair_of_rows(rows + 5 * record_bytes, record_bytes);
    v[6] = pair_of_rows(rows + 6 * record_bytes, record_bytes);
    v[7] = pair_of_rows(rows + 7 * record_bytes, record_bytes);
    shuffle(v);
    shuffle(v);
    shuffle(v);
    _mm_storeu_si128((void *)columns, v[0]);
    _mm_storeu_si128((void *)(columns + count), v[1]);
    _mm_storeu_si128((void *)(columns + 2 * count), v[2]);
    _mm_storeu_si128((void *)(columns + 3 * count), v[3]);
    _mm_storeu_si128((void *)(columns + 4 * count), v[4]);
    _mm_storeu_si128((void *)(columns + 5 * count), v[5]);
    _mm_storeu_si128((void *)(columns + 6 * count), v[6]);
    _mm_storeu_si128((void *)(columns + 7 * count), v[7]);
}
#endif

/* Transpose bytes FROM to FROM + COLUMNS_AT_ONCE - 1 of the records from K on into COLUMNS, which
 * are COUNT bytes apart. Eight records are transposed at a time, and the rest byte by byte. COLUMNS
 * are zero already if CLEARED. */
static void
split_rest(const unsigned char *records, size_t count, size_t record_bytes, size_t from, size_t k,
           unsigned char *columns, bool cleared)
{
    for (; k + COLUMNS_AT_ONCE <= count; k += COLUMNS_AT_ONCE) {
        uint64_t v[COLUMNS_AT_ONCE], any = 0;

        for (size_t i = 0; i < COLUMNS_AT_ONCE; i++) {
            v[i] = get64(records + (k + i) * record_bytes + from);
            any |= v[i];
        }
        if (any != 0) // Half of the data is zero: unused counters, and sites without blocks.
            turn_square(v);
        else if (cleared)
            continue;
        for (size_t i = 0; i < COLUMNS_AT_ONCE; i++) {
            uint64_t column = htole64(v[i]);

            memcpy(columns + i * count + k, &column, sizeof column);
        }
    }
    for (; k < count; k++) {
        const unsigned char *record = records + k * record_bytes + from;

        if (cleared && get64(record) == 0)
            continue;
        for (size_t i = 0; i < COLUMNS_AT_ONCE; i++)
            columns[i * count + k] = record[i];
    }
}

/* Like split_rest, for all records and COLUMN_COUNT bytes of each, a multiple of
 * COLUMNS_AT_ONCE. */
static void
split_columns(const unsigned char *records, size_t count, size_t record_bytes, size_t from,
              size_t column_count, unsigned char *columns, bool cleared)
{
    size_t k = 0;

#ifdef __SSE2__
    for (; k + ROWS_BY_SSE <= count; k += ROWS_BY_SSE)
        for (size_t c = 0; c < column_count; c += COLUMNS_AT_ONCE)
            turn_by_sse(records + k * record_bytes + from + c, record_bytes,
                        columns + c * count + k, count);
#endif
    for (size_t c = 0; c < column_count; c += COLUMNS_AT_ONCE)
        split_rest(records, count, record_bytes, from + c, k, columns + c * count, cleared);
}

/* Write RECORDS by columns. Neighbouring records differ in few of their bytes, and by columns,
 * equal bytes become adjacent, which saves a third of the size. The records together exceed the
 * cache. Therefore each pass fills as many columns as one cache line of each record serves, if the
 * cache can hold a line per record. */
static void
write_columns(struct writer *w, const unsigned char *records, size_t count, size_t record_bytes)
{
    size_t at_once = count <= CACHED_BYTES / LINE_BYTES ? LINE_BYTES : COLUMNS_AT_ONCE;
    unsigned char *columns = xmalloc(at_once * count);
    size_t from = 0, wide = record_bytes / COLUMNS_AT_ONCE * COLUMNS_AT_ONCE;

    while (from < wide) {
        size_t column_count = wide - from < at_once ? wide - from : at_once;

        split_columns(records, count, record_bytes, from, column_count, columns, false);
        write_table_more(w, columns, column_count * count);
        from += column_count;
    }
    for (; from < record_bytes; from++) {
        for (size_t k = 0; k < count; k++)
            columns[k] = records[k * record_bytes + from];
        write_table_more(w, columns, count);
    }
    free(columns);
    compress(w, NULL, 0, ZSTD_e_end);
}

/* Like write_columns, for a small table, in one step. */
static void
write_whole_columns(struct writer *w, const unsigned char *records, size_t count,
                    size_t record_bytes)
{
    unsigned char *columns = xcalloc(count, record_bytes);
    size_t wide = record_bytes / COLUMNS_AT_ONCE * COLUMNS_AT_ONCE;

    split_columns(records, count, record_bytes, 0, wide, columns, true);
    for (size_t from = wide; from < record_bytes; from++)
        for (size_t k = 0; k < count; k++)
            columns[from * count + k] = records[k * record_bytes + from];
    compress(w, columns, count * record_bytes, ZSTD_e_end);
    free(columns);
}

void
write_table(struct writer *w, enum disk_kind kind, const void *bytes, size_t size_bytes,
            uint32_t record_bytes)
{
    if (size_bytes == 0)
        return;
    write_table_begin(w, kind, size_bytes, record_bytes);
    if (record_bytes > 1 && size_bytes % record_bytes == 0) {
        size_t count = size_bytes / record_bytes;

        w->segment.flags |= DISK_SEGMENT_COLUMNS;
        w->has_columns = true;
        if (size_bytes <= WHOLE_BYTES_MAX && count > 1)
            write_whole_columns(w, bytes, count, record_bytes);
        else if (count > 1)
            write_columns(w, bytes, count, record_bytes);
        else // A single record is the same bytes by columns.
            compress(w, bytes, size_bytes, ZSTD_e_end);
    } else {
        compress(w, bytes, size_bytes, ZSTD_e_end);
    }
    end_segment(w);
}

static void
collect_location(struct writer *w, const struct profile_location *l)
{
    struct disk_location d = {
        .frame = l->address | (uint64_t)l->module << DISK_ADDRESS_BITS,
        .flags = l->exact ? DISK_NODE_EXACT : 0,
        .first_frame = (uint32_t)(w->frames.length / sizeof(struct disk_frame)),
        .frame_count = l->frame_count,
        .into = l->function_start != 0
                    ? (uint32_t)(l->address - !l->exact - l->function_start) + 1
                    : 0,
    };

    for (uint32_t i = 0; i < l->frame_count; i++) {
        const struct profile_frame *f = &w->p->frames[l->first_frame + i];
        struct disk_frame frame = {
            .function = writer_put_string(w, f->function),
            .linkage = writer_put_string(w, f->linkage),
            .file = writer_put_string(w, f->file),
            .line = f->line,
            .inlined = f->inlined,
            .local = f->local,
        };

        strbuf_add(&w->frames, &frame, sizeof frame);
    }
    strbuf_add(&w->locations, &d, sizeof d);
}

static void
writer_collect_types(struct writer *w)
{
    for (size_t i = 0; i < w->p->type_count; i++) {
        struct disk_type d = {w->p->types[i].size, writer_put_string(w, w->p->types[i].name)};

        strbuf_add(&w->types, &d, sizeof d);
    }
    for (size_t i = 0; i < w->p->site_count; i++) {
        const struct profile_site *site = &w->p->sites[i];
        struct disk_site_type d = {site->id, site->verdict, writer_put_string(w, site->type)};

        if (site->id != 0 && site->verdict != VERDICT_UNKNOWN)
            strbuf_add(&w->site_types, &d, sizeof d);
    }
}

static void
write_symbols(struct writer *w)
{
    for (size_t i = 1; w->p->symbolised && i < w->p->location_count; i++)
        if (profile_language(w->p, &w->p->locations[i]) == 0) // Named frames have a separate table.
            collect_location(w, &w->p->locations[i]);
    if (w->p->typed)
        writer_collect_types(w);
    write_table(w, DISK_STRINGS, w->strings.text, w->strings.length, 1);
    write_table(w, DISK_FRAMES, w->frames.text, w->frames.length, sizeof(struct disk_frame));
    write_table(w, DISK_LOCATIONS, w->locations.text, w->locations.length,
                sizeof(struct disk_location));
    write_table(w, DISK_TYPES, w->types.text, w->types.length, sizeof(struct disk_type));
    write_table(w, DISK_SITE_TYPES, w->site_types.text, w->site_types.length,
                sizeof(struct disk_site_type));
}

/* Append zeros if the file is so small that a reader would take its directory for forged. */
static void
writer_pad(struct writer *w)
{
    uint64_t tables_bytes = 0, size_bytes;

    for (uint32_t i = 0; i < w->segment_count; i++) {
        struct disk_segment s;

        memcpy(&s, w->out.text + DISK_DIRECTORY_OFF + i * sizeof s, sizeof s);
        tables_bytes += s.bytes;
    }
    size_bytes = raw_file_bytes_min(tables_bytes);
    if (size_bytes > w->out.length) {
        size_t more_bytes = size_bytes - w->out.length;

        memset(strbuf_room(&w->out, more_bytes), 0, more_bytes);
        strbuf_grew(&w->out, more_bytes);
    }
}

int
write_finish(struct writer *w, const struct disk_header *header, struct strbuf *ret,
             struct err *err)
{
    struct disk_header h = *header;
    int r = 0;

    h.state = DISK_STATE_PACKED;
    h.compatible |= (uint64_t)DISK_COMPATIBLE_CHECK;
    h.check = 0;
    write_symbols(w);
    if (w->has_columns)
        h.incompatible |= DISK_INCOMPATIBLE_COLUMNS;
    writer_pad(w);
    // A reader adds the size of the file that it reads.
    h.recorder_bytes = w->memory_bytes > w->out.length ? w->memory_bytes - w->out.length : 0;
    memcpy(w->out.text, &h, sizeof h);
    h.check = raw_check(w->out.text, w->out.length);
    memcpy(w->out.text, &h, sizeof h);
    if (w->failed != NULL) {
        r = err_set(err, HEAPTAP_BUG, "cannot compress: %s", w->failed);
        strbuf_release(&w->out);
    } else {
        *ret = w->out;
    }
    map_release(&w->known);
    strbuf_release(&w->strings);
    strbuf_release(&w->frames);
    strbuf_release(&w->locations);
    strbuf_release(&w->types);
    strbuf_release(&w->site_types);
    arena_release(&w->arena);
    return r;
}

int
write_check(const char *path, struct err *err)
{
    struct owner owner = {.state = OWNER_GONE};
    struct disk_header h = {0};
    struct stat st;

    if (stat(path, &st) != 0)
        return 0;
    if (!S_ISREG(st.st_mode))
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s is not a regular file; name another for the output", path);
    if (origin_header(path, &h) && h.state != DISK_STATE_PACKED)
        owner = owner_find(path, &h);
    if (owner.state != OWNER_GONE)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u %s writes %s; name another file for the output",
                       owner.pid != 0 ? owner.pid : h.pid,
                       owner.state == OWNER_ALIVE ? "still" : "perhaps still", path);
    if (h.state != DISK_STATE_PACKED && h.magic == DISK_MAGIC)
        return err_set(err, HEAPTAP_USAGE,
                       "%s is a recorded profile; name another file for the output, or remove it "
                       "first", path);
    return 0;
}

int
write_save(const struct strbuf *file, const char *path, const struct file_owner *owner,
           struct err *err)
{
    if (!replace_file(path, owner, file->text, file->length))
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot write %s", path);
    return 0;
}

/* Resolve the symbolic link PATH as an open for writing does: a missing target is created, and the
 * kernel rejects links that it does not trust (fs.protected_symlinks). */
static bool
writer_follow(const char *path, char *ret, size_t capacity)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    char self[32];
    ssize_t length;
    int saved_errno;

    if (fd < 0)
        return false;
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    length = readlink(self, ret, capacity);
    saved_errno = length < 0 ? errno : ENAMETOOLONG;
    close(fd);
    errno = saved_errno;
    if (length < 0 || (size_t)length == capacity)
        return false;
    ret[length] = '\0';
    return true;
}

int
write_output(const struct strbuf *file, const char *path, struct err *err)
{
    char behind[PATH_MAX];
    struct stat st;

    if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode))
        return write_save(file, path, NULL, err);
    if (!writer_follow(path, behind, sizeof behind))
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot write %s", path);
    return write_save(file, behind, NULL, err);
}
