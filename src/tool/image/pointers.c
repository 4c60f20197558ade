/* pointers.c: find the words that point to a range, as the reverse of the search in reach.c. Memory
 * between blocks is not searched, because remains of freed blocks keep nothing alive. */
#include "image/pointers.h"

#include "image/saved_registers.h"

struct looking {
    const struct examined *e;
    struct arena *arena;
    struct pointers *found;
    uint64_t start, bytes;
    const struct block *target; // Block that starts at `start`; NULL = none.
    bool in_libc;
    struct pointer like; // Kind and owner of the words being searched.
};

static void
pointers_look(void *arg, uint64_t at, uint64_t value)
{
    struct looking *l = arg;
    struct pointers *f = l->found;
    struct pointer p = l->like;

    if (value - l->start >= l->bytes)
        return;
    if (l->in_libc && l->target != NULL && scan_is_next_chunk(l->target, value))
        return;
    if (f->found++ >= POINTERS_KEPT)
        return;
    p.at = at;
    p.value = value;
    arena_grow(l->arena, &f->v, &f->capacity, f->count, sizeof *f->v);
    f->v[f->count++] = p;
}

static void
look_at_registers(struct looking *l)
{
    for (size_t i = 0; i < l->e->memory.thread_count; i++) {
        const struct memory_thread *t = &l->e->memory.threads[i];

        l->like = (struct pointer){.kind = SCAN_REGISTER, .thread = t};
        saved_registers_scan(&l->e->memory, t, pointers_look, l);
    }
}

void
pointers_find(const struct examined *e, uint64_t start, uint64_t end, struct arena *arena,
              struct pointers *ret)
{
    struct looking l = {
        .e = e, .arena = arena, .found = ret, .start = start, .bytes = end - start};
    uint64_t *extents = scan_extents(e, arena);
    struct scan_range *ranges;
    size_t count = scan_ranges(e, arena, &ranges);
    bool registers = false;

    *ret = (struct pointers){0};
    l.target = blocks_before(&e->blocks, start);
    if (l.target != NULL && l.target->address != start)
        l.target = NULL;
    for (size_t i = 0; i <= count; i++) {
        if (!registers && (i == count || ranges[i].kind == SCAN_MAPPED)) {
            look_at_registers(&l);
            registers = true;
        }
        if (i == count)
            break;
        l.like = (struct pointer){.kind = ranges[i].kind, .thread = ranges[i].thread};
        l.in_libc = ranges[i].is_libc;
        scan_words(e, ranges[i].start, ranges[i].end, pointers_look, &l);
        l.in_libc = false;
    }
    for (size_t i = 0; i < e->blocks.count; i++) {
        const struct block *b = &e->blocks.v[i];

        l.like = (struct pointer){.in_block = true, .block = b};
        scan_words(e, b->address, b->address + extents[i], pointers_look, &l);
    }
}
