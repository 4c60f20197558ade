/* memory_profile.c: copy a profile that the recorder keeps in memory.
 *
 * The tables have the same layout in memory as in the file, but are separate, each with room to
 * grow. The directory maps the parts of tables to offsets in the file. Each part is copied to its
 * offset, and the result is parsed like any other file. Only offsets and sizes are checked here. */
#include "image/memory_profile.h"

#include <string.h>

#include "format/format.h"

#define FILE_BYTES_MAX (UINT64_C(32) << 30)

/* Return the address in memory of the bytes that SEGMENT describes; 0 if no table of R has them. */
static uint64_t
memory_profile_address_of(const struct core_record *r, const struct disk_segment *segment)
{
    for (size_t i = 0; i < CORE_TABLES; i++) {
        const struct core_table *t = &r->tables[i];

        if (t->kind == segment->kind && segment->table_off <= t->max_bytes &&
            segment->bytes <= t->max_bytes - segment->table_off)
            return t->address + segment->table_off;
    }
    return 0;
}

/* Return the end of the file that SEGMENTS describe; 0 if they claim more bytes than M has. */
static uint64_t
end_of(const struct memory *m, const struct core_record *r, const struct disk_segment *segments)
{
    uint64_t end = DISK_DATA_OFF, readable = 0, sum = 0;

    for (size_t i = 0; i < m->region_count; i++)
        readable += m->regions[i].readable_bytes;
    for (size_t i = 0; i < DISK_SEGMENT_MAX; i++) {
        const struct disk_segment *s = &segments[i];

        if (s->kind == DISK_UNUSED || memory_profile_address_of(r, s) == 0 ||
            s->off > FILE_BYTES_MAX)
            continue;
        sum += s->bytes;
        if (s->off + s->bytes > end)
            end = s->off + s->bytes;
    }
    return end <= readable + DISK_DATA_OFF && sum <= readable ? end : 0;
}

int
memory_profile(const struct memory *m, const struct core_record *r, struct strbuf *ret,
               uint64_t *ret_missing, struct err *err)
{
    struct disk_segment segments[DISK_SEGMENT_MAX];
    char head[DISK_DATA_OFF];
    uint32_t flags;
    uint64_t end;

    *ret_missing = 0;
    if (memory_read(m, r->header, head, sizeof head) < sizeof head)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s: the profile was in memory that is missing in the dump", m->name);
    memcpy(segments, head + DISK_DIRECTORY_OFF, sizeof segments);
    end = end_of(m, r, segments);
    if (end == 0)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s: the profile in its memory is damaged, or cut off", m->name);
    // The flag marks a copy that lacks later events. This copy is complete.
    memcpy(&flags, head + offsetof(struct disk_header, process_flags), sizeof flags);
    flags &= ~(uint32_t)DISK_PROCESS_IN_MEMORY;
    memcpy(head + offsetof(struct disk_header, process_flags), &flags, sizeof flags);
    strbuf_add(ret, head, sizeof head);
    while (ret->length < end) {
        static const char zeros[4096];
        uint64_t left = end - ret->length;

        strbuf_add(ret, zeros, left < sizeof zeros ? (size_t)left : sizeof zeros);
    }
    for (size_t i = 0; i < DISK_SEGMENT_MAX; i++) {
        const struct disk_segment *s = &segments[i];
        uint64_t address = s->kind != DISK_UNUSED ? memory_profile_address_of(r, s) : 0;

        if (address != 0 && s->off >= DISK_DATA_OFF && s->off <= end && s->bytes <= end - s->off)
            *ret_missing +=
                s->bytes - memory_read(m, address, ret->text + s->off, (size_t)s->bytes);
    }
    // The kernel omits pages that were never written to. They are zeros, unless the dump is cut
    // short.
    if (m->missing_bytes == 0)
        *ret_missing = 0;
    return 0;
}
