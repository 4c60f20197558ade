/* excluded.c: count the program's memory that a dump leaves out although it may have pointers.
 *
 * A dump lists each range of memory, with or without bytes. The kernel leaves out the bytes of a
 * range that the program has excluded (MADV_DONTDUMP). It also leaves out memory that has never
 * been written to. The dump does not show the difference, so all such ranges count:
 *
 *     writable, no bytes   a mapped file               does not count: it is on the disk
 *                          zeros behind a module       do not count: never written to
 *                          the recorder's memory       does not count: listed in the core record
 *                          all others                  count
 *
 * gdb's gcore omits excluded memory. */
#include "image/examined.h"

#include <stdlib.h>

#include "image/module_end.h"

struct own_pieces {
    struct core_piece *v;
    size_t count;
};

/* Append the pieces of the array of COUNT entries at ADDRESS to OWN. */
static void
excluded_read_pieces(const struct memory *m, uint64_t address, size_t count, struct own_pieces *own)
{
    struct core_piece *at = own->v + own->count;
    size_t bytes = address != 0 ? memory_read(m, address, at, count * sizeof *at) : 0;

    for (size_t i = 0; i < bytes / sizeof *at; i++)
        if (at[i].address != 0)
            own->v[own->count++] = at[i];
}

/* Store in OWN the memory of E's recorder that may have no bytes. */
static void
excluded_read_own(const struct examined *e, struct own_pieces *own)
{
    const struct core_record *record = &e->record;

    for (size_t i = 0; i < CORE_TABLES; i++)
        if (record->tables[i].kind != 0)
            own->v[own->count++] =
                (struct core_piece){record->tables[i].address, record->tables[i].max_bytes, 0};
    excluded_read_pieces(&e->memory, record->pieces, CORE_PIECES, own);
    excluded_read_pieces(&e->memory, record->singles, CORE_SINGLES, own);
}

static bool
excluded_is_own(const struct own_pieces *own, const struct memory_region *r)
{
    for (size_t i = 0; i < own->count; i++) {
        const struct core_piece *p = &own->v[i];

        if (r->start - (p->address - p->below_bytes) < p->below_bytes + p->bytes)
            return true;
    }
    return false;
}

/* Return true if R, which has no bytes, begins in a mapped file, or with variables of a module. */
static bool
excluded_is_files(const struct examined *e, const struct memory_region *r)
{
    const struct memory *m = &e->memory;
    const struct memory_mapping *before = r->start > 0 ? memory_mapping_at(m, r->start - 1) : NULL;

    if (memory_mapping_at(m, r->start) != NULL)
        return true;
    return before != NULL && r->start < module_end(e, before);
}

uint64_t
excluded_count(const struct examined *e)
{
    const struct memory *m = &e->memory;
    struct own_pieces own = {0};
    uint64_t bytes = 0;

    if (e->record.pieces == 0 || m->lives)
        return 0;
    own.v = xmalloc((CORE_PIECES + CORE_SINGLES + CORE_TABLES) * sizeof *own.v);
    excluded_read_own(e, &own);
    for (size_t i = 0; i < m->region_count; i++) {
        const struct memory_region *r = &m->regions[i];

        if ((r->access & MEMORY_WRITE) && r->readable_bytes == 0 && !excluded_is_files(e, r) &&
            !excluded_is_own(&own, r))
            bytes += r->end - r->start;
    }
    free(own.v);
    return bytes;
}
