/* loader.c: the file's strings in the model.
 *
 * Nearly every table refers to strings, by offset and length in one table. Each becomes one string
 * of the model, however many records refer to it. The total length of all strings is limited by the
 * size of the table. Otherwise many overlapping strings could turn a few bytes into gigabytes.
 */
#include "load/loader.h"

uint32_t
loader_string(struct loader *l, struct disk_string s)
{
    bool new;
    uint64_t *known;

    if (s.bytes == 0)
        return 0;
    known = map_put(&l->known_strings, (uint64_t)s.off << 32 | s.bytes, &new);
    if (new && l->string_bytes + s.bytes <= l->raw->tables[DISK_STRINGS].size_bytes) {
        l->string_bytes += s.bytes;
        *known = strtab_id(&l->p->strings, raw_string(l->raw, s));
    }
    return (uint32_t)*known;
}

loader_noter *
loader_note_of_loose(const struct loader *l)
{
    const struct profile *p = l->p;
    bool is_final =
        p->process.ended && !p->process.unsure && !p->may_lag && !p->losses.file_failed;

    return is_final ? raw_damage : raw_note;
}
