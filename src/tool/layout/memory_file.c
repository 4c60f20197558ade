/* memory_file.c: open copies of memory and find the address of each part.
 *
 * Files are read and not mapped, because the command must survive a file that is truncated
 * meanwhile. Holes are skipped; most cores are sparse files.
 *
 * Segments of a core that are adjacent, in memory and in the file, become one part, because a block
 * may extend from one into the next.
 */
#include "layout/memory_file.h"

#include <elf.h>
#include <errno.h>
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
