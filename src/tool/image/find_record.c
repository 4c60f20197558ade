/* find_record.c: find the recorder's record, and the profile that it belongs to.
 *
 * The record is at the beginning of a page of private memory, so only the first word of each page
 * is read. Small ranges come first, because the record's range is among the smallest: then little
 * of a large dump is read. The record contains its own address, which distinguishes it from copies.
 *
 * A forked child without events has no record. Its variables name the process that it comes from
 * (struct core_origin).
 *
 * The process id and the start times of process and recording identify the profile. The path does
 * not: `heaptap run` renames profiles, and a later run may have taken the name. So the search reads
 * the header of every profile in the directories where this one may be. */
#include "image/memory_profile.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "profile/origin.h"

// Argument of find_record_by_size; it is static because qsort passes none.
static const struct memory *sorted;

static int
find_record_by_size(const void *a, const void *b)
{
    const struct memory_region *x = &sorted->regions[*(const size_t *)a];
    const struct memory_region *y = &sorted->regions[*(const size_t *)b];

    if (x->readable_bytes != y->readable_bytes)
        return x->readable_bytes < y->readable_bytes ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Read the record at ADDRESS. Returns as record_find. */
static int
find_record_take(const struct memory *m, uint64_t address, struct core_record *ret, struct err *err)
{
    struct core_record r = {0};
    size_t got = memory_read(m, address, &r, sizeof r);

    if (got < offsetof(struct core_record, path) || r.magic != CORE_MAGIC || r.address != address)
        return HEAPTAP_NOT_FOUND;
    if (r.version < 1 || r.version > CORE_VERSION || r.record_bytes < sizeof r)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s: was recorded by another version of heaptap (its record has version "
                       "%u); read it with that one",
                       m->name, r.version);
    if (r.granule_shift < 3 || r.granule_shift > 12)
        return HEAPTAP_NOT_FOUND;
    r.path[sizeof r.path - 1] = '\0';
    *ret = r;
    return 0;
}

static int
find_record_find_in(const struct memory *m, const struct memory_region *region,
                    struct core_record *ret, struct err *err)
{
    uint64_t first = (region->start + CORE_RECORD_ALIGNMENT - 1) & -(uint64_t)CORE_RECORD_ALIGNMENT;

    for (uint64_t at = first; at - region->start < region->readable_bytes;
         at += CORE_RECORD_ALIGNMENT) {
        uint64_t magic;
        int r;

        if (!memory_word(m, at, sizeof magic, &magic) || magic != CORE_MAGIC)
            continue;
        r = find_record_take(m, at, ret, err);
        if (r != HEAPTAP_NOT_FOUND)
            return r;
    }
    return HEAPTAP_NOT_FOUND;
}

int
record_find(const struct memory *m, struct core_record *ret, struct err *err)
{
    size_t *order = xmalloc((m->region_count + 1) * sizeof *order);
    int r = HEAPTAP_NOT_FOUND;

    for (size_t i = 0; i < m->region_count; i++)
        order[i] = i;
    sorted = m;
    qsort(order, m->region_count, sizeof *order, find_record_by_size);
    for (size_t i = 0; i < m->region_count && r == HEAPTAP_NOT_FOUND; i++) {
        const struct memory_region *region = &m->regions[order[i]];

        // The recorder exists only for little-endian 64-bit machines.
        if (region->access & MEMORY_WRITE && m->word_bytes == 8 && !m->big_endian &&
            memory_mapping_at(m, region->start) == NULL)
            r = find_record_find_in(m, region, ret, err);
    }
    free(order);
    return r;
}

/* Find the origin in REGION. Return false if it is not there. */
static bool
find_origin_in(const struct memory *m, const struct memory_region *region, struct core_origin *ret)
{
    enum { STEP_WORDS = 512 };
    uint64_t words[STEP_WORDS];

    for (uint64_t at = (region->start + 7) & -UINT64_C(8);
         at - region->start < region->readable_bytes; at += sizeof words) {
        size_t count = memory_read(m, at, words, sizeof words) / sizeof *words;

        for (size_t i = 0; i < count; i++)
            if (words[i] == CORE_ORIGIN_MAGIC &&
                memory_read(m, at + i * 8, ret, sizeof *ret) == sizeof *ret &&
                ret->address == at + i * 8) {
                ret->path[sizeof ret->path - 1] = '\0';
                return true;
            }
    }
    return false;
}

bool
record_find_origin(const struct memory *m, struct core_origin *ret)
{
    *ret = (struct core_origin){0};
    for (size_t i = 0; i < m->region_count && m->word_bytes == 8 && !m->big_endian; i++) {
        const struct memory_region *r = &m->regions[i];

        if (r->access & MEMORY_WRITE && memory_is_variables(m, r) && find_origin_in(m, r, ret))
            return m->pid != 0 && ret->pid != m->pid;
    }
    return false;
}

struct core_record
record_of_child(const struct core_origin *o)
{
    struct core_record r = {.version = CORE_VERSION,
                            .record_bytes = sizeof r,
                            .pid = o->pid,
                            .process_start = o->process_start,
                            .start_unix_ns = o->start_unix_ns,
                            .start_monotonic_ns = o->start_monotonic_ns,
                            .session_id = o->session_id,
                            .usable = o->usable,
                            .granule_shift = CORE_HOOKED_SHIFT,
                            .annotated = o->annotated,
                            .annotation_bytes = o->annotation_bytes,
                            .guard_bytes = o->guard_bytes};

    memcpy(r.path, o->path, sizeof r.path);
    return r;
}

bool
record_is_of(const struct core_record *r, const struct disk_header *h)
{
    return r->pid == h->pid && r->process_start == h->process_start &&
           r->start_unix_ns == h->start_unix_ns && r->start_monotonic_ns == h->start_monotonic_ns;
}

/* Return the path of a profile of R that matches PATTERN, or NULL. */
static const char *
find_like(const struct core_record *r, const char *pattern, struct arena *arena)
{
    const char *found = NULL;
    glob_t g = {0};

    if (glob(pattern, 0, NULL, &g) == 0)
        for (size_t i = 0; i < g.gl_pathc && found == NULL; i++) {
            struct disk_header h;

            if (origin_header(g.gl_pathv[i], &h) && record_is_of(r, &h))
                found = arena_strdup(arena, g.gl_pathv[i]);
        }
    globfree(&g);
    return found;
}

/* Return the directory of PATH, with a slash at its end, as a pattern that matches only that
 * directory. */
static const char *
directory_pattern(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0, used = 0;
    char *pattern = arena_alloc(arena, 2 * length + 1);

    for (size_t i = 0; i < length; i++) {
        if (strchr("*?[]\\", path[i]) != NULL)
            pattern[used++] = '\\';
        pattern[used++] = path[i];
    }
    return pattern;
}

const char *
record_find_profile(const struct core_record *r, const char *beside, struct arena *arena)
{
    const char *places[] = {r->path, beside != NULL ? beside : "", ""};
    const char *found = NULL;
    struct disk_header h;

    if (origin_header(r->path, &h) && record_is_of(r, &h))
        return arena_strdup(arena, r->path);
    for (size_t i = 0; i < countof(places) && found == NULL; i++) {
        const char *directory = directory_pattern(places[i], arena);

        found = find_like(r, arena_printf(arena, "%s*.heaptap", directory), arena);
        if (found == NULL)
            found = find_like(
                r, arena_printf(arena, "%s*" ORIGIN_OTHERS_SUFFIX "/*.heaptap", directory), arena);
        // A profile that was moved out of such a directory is in the directory above.
        if (found == NULL)
            found = find_like(r, arena_printf(arena, "%s../*.heaptap", directory), arena);
    }
    return found;
}
