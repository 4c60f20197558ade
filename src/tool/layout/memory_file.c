/* memory_file.c: open copies of memory and find the address of each part.
 *
 * Files are read and not mapped, because the command must survive a file that is truncated
 * meanwhile. Holes are skipped; most cores are sparse files.
 *
 * Parts that are adjacent in memory become one, because a block or its annotation may extend from
 * one into the next. Segments of a core are mostly adjacent in the file as well. Otherwise, and if
 * the parts are in several files, memory_parts_join makes one part with a source that reads from
 * all of them. Parts may overlap if their common bytes are equal; each byte is then read once, so
 * that no block counts twice. Different bytes are from two moments, or an address is wrong.
 */
#include "layout/memory_file.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/path.h"

static size_t
memory_file_read_file(void *arg, uint64_t off, void *to, size_t bytes)
{
    const struct memory_file *file = arg;
    size_t done = 0;

    while (done < bytes && off + done <= INT64_MAX) {
        ssize_t n = pread(file->fd, (char *)to + done, bytes - done, (off_t)(off + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

static uint64_t
next_data(void *arg, uint64_t off)
{
    const struct memory_file *file = arg;
    off_t next = off <= INT64_MAX ? lseek(file->fd, (off_t)off, SEEK_DATA) : -1;

    if (next >= 0)
        return (uint64_t)next;
    return errno == ENXIO ? file->source.size : off;
}

int
memory_file_open(const char *path, struct arena *arena, struct memory_file *ret, struct err *err)
{
    struct stat st;
    int fd = regular_open(NULL, path, &st);

    if (fd == -ENODEV)
        return err_set(err, HEAPTAP_BAD_INPUT, "%s is no regular file", path);
    if (fd < 0) {
        errno = -fd;
        return err_errno(err, HEAPTAP_BAD_INPUT, "%s cannot be read", path);
    }
    *ret = (struct memory_file){
        .path = arena_strdup(arena, path),
        .fd = fd,
        .written = st.st_mtim,
    };
    ret->source = (struct byte_source){.read = memory_file_read_file,
                                       .next_data = next_data,
                                       .arg = ret,
                                       .size = (uint64_t)st.st_size};
    return 0;
}

void
memory_file_close(struct memory_file *file)
{
    close(file->fd);
    file->fd = -1;
}

int
memory_file_read_elf(struct memory_file *file, struct arena *arena, struct err *err)
{
    return elf_facts_read(&file->source, file->path, arena, &file->facts, err);
}

static void
memory_file_add_part(struct memory_parts *parts, struct arena *arena,
                     const struct memory_part *part)
{
    struct memory_part *last = parts->count > 0 ? &parts->v[parts->count - 1] : NULL;

    if (last != NULL && last->source == part->source && last->base_known && part->base_known &&
        last->base + last->size == part->base && last->off + last->size == part->off) {
        last->size += part->size;
        return;
    }
    arena_grow(arena, &parts->v, &parts->capacity, parts->count, sizeof *parts->v);
    parts->v[parts->count++] = *part;
}

static void
add_segments(struct memory_file *file, struct memory_parts *parts, struct arena *arena)
{
    for (size_t i = 0; i < file->facts.segment_count; i++) {
        const struct elf_segment *s = &file->facts.segments[i];
        uint64_t left = s->off < file->source.size ? file->source.size - s->off : 0;
        struct memory_part part = {
            .name = file->path,
            .source = &file->source,
            .off = s->off,
            .size = s->file_bytes < left ? s->file_bytes : left,
            .base = s->address,
            .base_known = true,
        };

        if (s->type != PT_LOAD || s->file_bytes == 0)
            continue;
        file->missing_bytes += s->file_bytes - part.size;
        if (part.size > 0)
            memory_file_add_part(parts, arena, &part);
    }
}

int
memory_file_parts(struct memory_file *file, const uint64_t *base, struct arena *arena,
                  struct memory_parts *parts, struct err *err)
{
    struct memory_part part = {
        .name = file->path,
        .source = &file->source,
        .size = file->source.size,
        .base = base != NULL ? *base : 0,
        .base_known = base != NULL,
    };

    if (base == NULL && elf_facts_is_elf(&file->source)) {
        int rc = memory_file_read_elf(file, arena, err);

        if (rc != 0)
            return rc;
        file->is_core = file->facts.type == ET_CORE;
    }
    if (file->is_core)
        add_segments(file, parts, arena);
    else
        memory_file_add_part(parts, arena, &part);
    return 0;
}

/* --- Adjacent and overlapping parts ----------------------------------------------------------- */

/* The pieces of a joined part, by address. */
struct pieces {
    const struct memory_part **v;
    size_t count;
    struct byte_source source;
};

/* Return the piece with the byte OFF of P, and the position in that piece in *RET_AT; NULL if OFF
 * is beyond the end. */
static const struct memory_part *
piece_at(const struct pieces *p, uint64_t off, uint64_t *ret_at)
{
    size_t low = 0, high = p->count;
    uint64_t start = p->v[0]->base;

    if (off >= p->source.size)
        return NULL;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (p->v[middle]->base - start <= off)
            low = middle;
        else
            high = middle;
    }
    *ret_at = off - (p->v[low]->base - start);
    return p->v[low];
}

static size_t
read_pieces(void *arg, uint64_t off, void *to, size_t bytes)
{
    const struct pieces *p = arg;
    const struct memory_part *piece;
    size_t done = 0;
    uint64_t at;

    while (done < bytes && (piece = piece_at(p, off + done, &at)) != NULL) {
        size_t want = bytes - done < piece->size - at ? bytes - done : (size_t)(piece->size - at);
        size_t got =
            piece->source->read(piece->source->arg, piece->off + at, (char *)to + done, want);

        done += got;
        if (got < want)
            break;
    }
    return done;
}

static uint64_t
next_data_of_pieces(void *arg, uint64_t off)
{
    const struct pieces *p = arg;
    const struct memory_part *piece;
    uint64_t at, next;

    while ((piece = piece_at(p, off, &at)) != NULL) {
        next = piece->source->next_data != NULL
                   ? piece->source->next_data(piece->source->arg, piece->off + at)
                   : piece->off + at;
        if (next <= piece->off + at)
            return off;
        if (next - piece->off < piece->size)
            return off + (next - piece->off - at);
        off += piece->size - at;
    }
    return p->source.size;
}

/* Order parts by address. Parts of one address keep their order. */
static int
compare_pieces(const void *a, const void *b)
{
    const struct memory_part *x = *(const struct memory_part *const *)a;
    const struct memory_part *y = *(const struct memory_part *const *)b;

    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Return the names of the COUNT parts V, each once if adjacent ones have equal names. */
static const char *
names_of_pieces(const struct memory_part *const *v, size_t count, struct arena *arena)
{
    const char *names = v[0]->name;

    for (size_t i = 1; i < count; i++)
        if (strcmp(v[i]->name, v[i - 1]->name) != 0)
            names = arena_printf(arena, "%s, %s", names, v[i]->name);
    return names;
}

/* Compare the first BYTES of PART with P, which has the same addresses. Bytes that cannot be read
 * count as equal. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
static int
compare_overlap(struct pieces *p, const struct memory_part *part, uint64_t bytes, struct err *err)
{
    enum { COMPARED_BYTES = 16384 };
    char a[COMPARED_BYTES], b[COMPARED_BYTES];
    uint64_t start = part->base - p->v[0]->base, unused;

    for (uint64_t at = 0; at < bytes; at += COMPARED_BYTES) {
        size_t want = bytes - at < COMPARED_BYTES ? (size_t)(bytes - at) : COMPARED_BYTES, i = 0;
        size_t got = part->source->read(part->source->arg, part->off + at, a, want);

        if (got > 0)
            got = read_pieces(p, start + at, b, got);
        while (i < got && a[i] == b[i])
            i++;
        if (i < got)
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "%s and %s have different bytes for address 0x%" PRIx64
                           "; give one of them, or correct their addresses",
                           piece_at(p, start + at + i, &unused)->name, part->name,
                           part->base + at + i);
    }
    return 0;
}

/* Add PART, which begins inside or at the end of P, without the bytes that P has. Returns 0, or
 * HEAPTAP_BAD_INPUT with ERR set if these bytes differ. */
static int
add_piece(struct pieces *p, const struct memory_part *part, struct arena *arena, struct err *err)
{
    uint64_t start = p->count > 0 ? part->base - p->v[0]->base : 0;
    uint64_t bytes = p->source.size - start < part->size ? p->source.size - start : part->size;
    int rc = bytes > 0 ? compare_overlap(p, part, bytes, err) : 0;
    struct memory_part *rest;

    if (rc != 0 || bytes == part->size)
        return rc;
    rest = arena_alloc(arena, sizeof *rest);
    *rest = *part;
    rest->base += bytes;
    rest->off += bytes;
    rest->size -= bytes;
    p->source.size += rest->size;
    p->v[p->count++] = rest;
    return 0;
}

int
memory_parts_join(struct memory_parts *parts, struct arena *arena, struct err *err)
{
    struct memory_parts old = *parts;
    const struct memory_part **v = arena_array(arena, old.count, sizeof(struct memory_part *));
    const struct memory_part **pieces = arena_array(arena, old.count, sizeof(struct memory_part *));
    struct memory_part *result = arena_array(arena, old.count, sizeof *result);
    size_t known = 0;

    for (size_t i = 0; i < old.count; i++) {
        result[i] = old.v[i];
        if (old.v[i].base_known && old.v[i].size > 0)
            v[known++] = &old.v[i];
    }
    if (known > 1)
        qsort(v, known, sizeof(struct memory_part *), compare_pieces);
    for (size_t i = 0, end; i < known; i = end) {
        struct pieces *p = arena_alloc(arena, sizeof *p);
        size_t first = (size_t)(v[i] - old.v);

        *p = (struct pieces){&pieces[i], 0, {read_pieces, next_data_of_pieces, p, 0}};
        for (end = i; end < known && v[end]->base - v[i]->base <= p->source.size; end++) {
            int rc = add_piece(p, v[end], arena, err);

            if (rc != 0)
                return rc;
            first = v[end] < &old.v[first] ? (size_t)(v[end] - old.v) : first;
            result[v[end] - old.v].size = 0;
        }
        result[first] = end - i == 1 ? *v[i]
                                     : (struct memory_part){.name = names_of_pieces(p->v, p->count,
                                                                                    arena),
                                                            .source = &p->source,
                                                            .size = p->source.size,
                                                            .base = v[i]->base,
                                                            .base_known = true};
    }
    *parts = (struct memory_parts){0};
    for (size_t i = 0; i < old.count; i++)
        if (result[i].size > 0 || old.v[i].size == 0) {
            arena_grow(arena, &parts->v, &parts->capacity, parts->count, sizeof *parts->v);
            parts->v[parts->count++] = result[i];
        }
    return 0;
}
