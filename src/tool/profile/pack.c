/* pack.c: compress a profile within the same container format.
 *
 * A packed file has the recorder's tables unchanged, each as one zstd segment, so a later version
 * of heaptap loses no data. Only modules gain the source of their names. Symbols and types are four
 * more tables (format.md, section 5). The header's state is "packed". The header preserves the size
 * of the recorder's file, although the packed file is smaller. writer.c makes the file. */
#include "profile/pack.h"

#include <string.h>
#include <sys/stat.h>

#include "profile/origin.h"
#include "profile/raw.h"
#include "profile/writer.h"
#include "util/bytes.h"
#include "util/path.h"

/* Return the number of bytes of table T up to its last record that is not all zero. */
static size_t
used_bytes(const struct raw_table *t)
{
    size_t used = t->size_bytes;

    for (size_t step = 1 << 16; step >= 1 << 6; step /= 32)
        while (used > step && bytes_are_zero(t->bytes + used - step, step))
            used -= step;
    while (used > 0 && t->bytes[used - 1] == 0)
        used--;
    if (t->record_bytes == 0)
        return 0;
    used = (used + t->record_bytes - 1) / t->record_bytes * t->record_bytes;
    return used < t->size_bytes ? used : t->size_bytes;
}

/* Return the modules in T with P's source of symbols for each. */
static const void *
modules_of(const struct raw_table *t, const struct profile *p, struct arena *arena)
{
    uint8_t *copy = arena_alloc(arena, t->size_bytes);

    if (t->size_bytes == 0)
        return copy;
    memcpy(copy, t->bytes, t->size_bytes);
    for (size_t i = 1; i < p->module_count; i++) {
        uint32_t symbols = p->modules[i].symbols;
        size_t off = i * t->record_bytes + offsetof(struct disk_module, symbols);

        if (t->record_bytes >= sizeof(struct disk_module) &&
            off + sizeof symbols <= t->size_bytes)
            memcpy(copy + off, &symbols, sizeof symbols);
    }
    return copy;
}

/* Clear the identity of the file in H if the file IN_PATH has it and P's process has ended: the
 * packed file is then as good as the recorder's. */
static void
forget_file(struct disk_header *h, const char *in_path, const struct profile *p)
{
    struct stat st;

    if (p->process.ended && stat(in_path, &st) == 0 && origin_is_original(&st, h))
        h->file_device = h->file_inode = 0;
}

static int
pack_write_as_it_is(const char *in_path, const struct raw_file *raw, const struct profile *p,
                    struct strbuf *ret, struct err *err)
{
    static const enum disk_kind as_they_are[] = {
        DISK_MODULES,  DISK_NODES,         DISK_COUNTERS, DISK_THREADS, DISK_BINS,
        DISK_TIMELINE, DISK_UNKNOWN_FREES, DISK_PHASES,   DISK_ERRORS,  DISK_SNAPSHOTS,
        DISK_HISTORY,  DISK_HEAPS,         DISK_LABELS,   DISK_PROGRAMS, DISK_NOTES,
        DISK_ACCESS,   DISK_FIELDS,        DISK_NAMED,    DISK_CORRUPTIONS};
    struct disk_header header = raw->header;
    struct writer w;

    write_begin(&w, p);
    strbuf_add(&w.strings, raw->tables[DISK_STRINGS].bytes, raw->tables[DISK_STRINGS].size_bytes);
    if (p->process.ended)
        header.process_flags |= DISK_PROCESS_GONE;
    // Readers that do not know ended_ns must not treat the last tick as the end.
    if (p->process.elapsed_is_least || header.ended_ns != 0)
        header.process_flags |= DISK_PROCESS_LASTED;
    if (p->damage != NULL)
        header.process_flags |= DISK_PROCESS_DAMAGED;
    forget_file(&header, in_path, p);
    w.memory_bytes = header.recorder_bytes + raw->file_bytes;
    for (size_t i = 0; i < countof(as_they_are); i++) {
        const struct raw_table *t = &raw->tables[as_they_are[i]];
        const void *bytes =
            as_they_are[i] == DISK_MODULES ? modules_of(t, p, &w.arena) : t->bytes;

        write_table(&w, as_they_are[i], bytes, used_bytes(t), t->record_bytes);
    }
    return write_finish(&w, &header, ret, err);
}

int
pack_tables(const char *in_path, struct raw_file *raw, const struct profile *p,
            const char *out_path, struct err *err)
{
    bool in_place = regular_is_same(in_path, out_path);
    struct strbuf file = {0};
    int r;

    if (!p->process.ended && p->merged_processes == 0 && in_place)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u still writes %s; pack it when it has ended, or into another "
                       "file with -o",
                       profile_pid_here(p), in_path);
    r = in_place ? 0 : write_check(out_path, err);
    if (r == 0) {
        history_prune_snapshots(raw);
        r = pack_write_as_it_is(in_path, raw, p, &file, err);
    }
    if (r == 0)
        r = in_place ? write_save(&file, in_path, &raw->owner, err)
                     : write_output(&file, out_path, err);
    strbuf_release(&file);
    return r;
}

int
pack_write(const char *in_path, const struct profile *p, const char *out_path, struct err *err)
{
    struct arena arena = {0};
    struct raw_file raw;
    size_t size_bytes;
    void *data;
    int r = origin_read(in_path, &arena, &data, &size_bytes, err);

    if (r == 0)
        r = raw_parse(data, size_bytes, in_path, &arena, &raw, err);
    if (r == 0)
        r = pack_tables(in_path, &raw, p, out_path, err);
    arena_release(&arena);
    return r;
}
