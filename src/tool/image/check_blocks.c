/* check_blocks.c: find corrupted blocks in the memory of a recorded process.
 *
 * Annotated blocks (docs/internals/annotated.md): the recorder's map has their addresses, so each
 * must have its annotation in front. Any differing byte is corruption, even if nearly all of the
 * annotation is lost. Neighbours are checked together, because one write may change both:
 *
 *     block A │ guard │ the allocator's │ HeaP … check ProF │ block B
 *             └──► A ran over                           ◄───┘ B was written before its beginning
 *
 * If the first byte of the guard has changed, A overflowed. If only later bytes have changed, and
 * B's end mark is gone, B was written before its beginning. If the guard is intact, the annotation
 * shows the direction: without its end mark it was overwritten from its own block, and without its
 * beginning from the block in front.
 *
 * Blocks without annotations: glibc keeps a word in front of each block with the size of the chunk,
 * which also gives the place of the next word. A word that is invalid, or that does not lead to a
 * valid one, was overwritten, most likely from the block in front. The first byte of that write is
 * unknown, and writes into the slack between two blocks leave no trace. Blocks of other allocators
 * cannot be checked. */
#include "image/check_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "image/examined.h"
#include "image/place.h"
#include "layout/annotation.h"

enum {
    NEAR_BYTES = 256,   // Largest distance between neighbours.
    WORD = 8,
    MARK_BYTES = ANNOTATION_MARK_BYTES,
    GUARD_MAX = UINT8_MAX,
    GLIBC_LEAST = 32,   // Smallest chunk of glibc.
    GLIBC_IN_USE = 1,   // Flag in a chunk's word: the chunk in front is in use.
};

/* An annotated block as found in memory. */
struct state {
    // The block as listed in the ledger, or as in the annotation if that is intact.
    struct block block;
    bool known;         // The memory of the block can be read.
    bool begins, ends, whole;
    uint32_t guard_first, guard_last; // First and last changed guard byte; guard_bytes, 0 = none.
    bool guard_known;
};

struct checker {
    const struct examined *e;
    struct arena *arena;
    struct checked *out;
    size_t capacity, state_count, state_capacity;
    struct state *states; // By address.
    uint32_t head_bytes, guard_bytes;
};

static struct check_corruption *
check_blocks_add(struct checker *c, enum check_kind kind, const struct block *block)
{
    struct check_corruption *d;

    arena_grow(c->arena, &c->out->v, &c->capacity, c->out->count, sizeof *c->out->v);
    d = &c->out->v[c->out->count++];
    *d = (struct check_corruption){.kind = kind, .block = *block};
    return d;
}

/* Set D's changed bytes to [FROM, END). */
static void
add_written(struct checker *c, struct check_corruption *d, uint64_t from, uint64_t end)
{
    uint64_t count = end - from;

    d->at = from;
    d->known_bytes = count;
    if (count > sizeof d->written)
        count = sizeof d->written;
    d->written_count = (uint32_t)memory_read(&c->e->memory, from, d->written, (size_t)count);
}

/* --- Annotated blocks ------------------------------------------------------------------------- */

static uint8_t
check_blocks_guard_byte(uint32_t i)
{
    return (uint8_t) "TaiL"[i % 4];
}

static void
check_guard(struct checker *c, struct state *s)
{
    uint8_t guard[GUARD_MAX];
    uint64_t at = s->block.address + s->block.size_bytes;

    s->guard_first = c->guard_bytes;
    s->guard_known = memory_read(&c->e->memory, at, guard, c->guard_bytes) == c->guard_bytes;
    for (uint32_t i = 0; s->guard_known && i < c->guard_bytes; i++) {
        if (guard[i] == check_blocks_guard_byte(i))
            continue;
        if (s->guard_first == c->guard_bytes)
            s->guard_first = i;
        s->guard_last = i;
    }
}

/* Check the annotation and the guard of S, whose address is known. PADDED is true if the annotation
 * has padding. */
static void
check_blocks_verify(struct checker *c, struct state *s, bool padded)
{
    uint8_t bytes[ANNOTATION_BEFORE_BYTES + ANNOTATION_BYTES_MAX];
    size_t before = padded ? ANNOTATION_BEFORE_BYTES : 0, count = c->head_bytes + before;
    const uint8_t *head = bytes + before;
    struct annotation_shape shape;
    struct annotation a;

    s->known = memory_read(&c->e->memory, s->block.address - count, bytes, count) == count;
    if (!s->known)
        return;
    s->begins = memcmp(head, "HeaP", MARK_BYTES) == 0 && annotation_shape(head, &shape) &&
                shape.bytes == c->head_bytes && shape.guard_bytes == c->guard_bytes &&
                shape.padded == padded;
    s->ends = memcmp(head + c->head_bytes - MARK_BYTES, "ProF", MARK_BYTES) == 0;
    if (s->begins) {
        annotation_read(&shape, head, head - WORD, &a);
        s->whole = s->ends && a.address == (uint32_t)s->block.address;
        if (s->whole)
            s->block.size_bytes = a.size;
    }
    if (s->whole || s->block.site != 0)
        check_guard(c, s);
}

static bool
guard_is_changed(const struct checker *c, const struct state *s)
{
    return s->guard_known && s->guard_first < c->guard_bytes;
}

static void
check_blocks_take(void *arg, uint64_t address, uint8_t byte)
{
    struct checker *c = arg;
    const struct block *b = blocks_before(&c->e->blocks, address);
    struct state *s;

    arena_grow(c->arena, &c->states, &c->state_capacity, c->state_count, sizeof *c->states);
    s = &c->states[c->state_count++];
    *s = (struct state){.block = {.address = address}, .guard_first = c->guard_bytes};
    if (b != NULL && b->address == address)
        s->block = *b;
    check_blocks_verify(c, s, (byte & CORE_ANNOTATED_PADDED) != 0);
    if (s->known)
        c->out->looked++;
    else
        c->out->unknown++;
}

static int
check_blocks_by_address(const void *a, const void *b)
{
    const struct state *x = a, *y = b;

    return x->block.address < y->block.address ? -1 : x->block.address > y->block.address;
}

static void
read_annotated(struct checker *c)
{
    annotated_leaves_each(&c->e->memory, &c->e->record, check_blocks_take, c);
    if (c->state_count > 1)
        qsort(c->states, c->state_count, sizeof *c->states, check_blocks_by_address);
}

/* Return true if the memory of B lies directly behind the memory of A. */
static bool
check_blocks_is_adjacent(const struct checker *c, const struct state *a, const struct state *b)
{
    uint64_t end = a->block.address + a->block.size_bytes + c->guard_bytes;
    uint64_t begin = b->block.address - c->head_bytes;

    return end <= begin && begin - end <= NEAR_BYTES;
}

/* Return the address of the first changed byte of the end mark of S's annotation. Earlier bytes may
 * have changed without a trace. */
static uint64_t
end_changed_from(struct checker *c, const struct state *s)
{
    uint8_t end[MARK_BYTES];
    uint64_t at = s->block.address - MARK_BYTES;

    if (memory_read(&c->e->memory, at, end, sizeof end) != sizeof end)
        return at;
    for (uint32_t i = 0; i < MARK_BYTES; i++, at++)
        if (end[i] != (uint8_t) "ProF"[i])
            break;
    return at;
}

/* Check the guard of A; B follows A and may be NULL. Return true if A's corruption explains B's. */
static bool
check_end(struct checker *c, const struct state *a, const struct state *b)
{
    bool near = b != NULL && b->known && check_blocks_is_adjacent(c, a, b);
    uint64_t end = a->block.address + a->block.size_bytes;
    struct check_corruption *d;

    if (!guard_is_changed(c, a))
        return false;
    if (near && a->guard_first > 0 && !b->ends) {
        d = check_blocks_add(c, CHECK_BEFORE_START, &b->block);
        d->neighbour = a->block;
        add_written(c, d, end + a->guard_first, b->block.address);
        return true;
    }
    d = check_blocks_add(c, CHECK_PAST_END, &a->block);
    if (!near || b->whole) {
        add_written(c, d, end + a->guard_first, end + a->guard_last + 1);
        return false;
    }
    d->neighbour = b->block;
    add_written(c, d, end + a->guard_first,
                b->begins ? b->block.address - MARK_BYTES
                : b->ends ? b->block.address - c->head_bytes + MARK_BYTES
                          : b->block.address);
    return true;
}

/* Check the annotation of B. A is the block before B, and has an intact guard; A may be NULL. */
static void
check_begin(struct checker *c, const struct state *a, const struct state *b)
{
    uint64_t begin = b->block.address - c->head_bytes;
    struct check_corruption *d;

    if (b->whole || !b->known)
        return;
    if (b->begins || (!b->ends && c->guard_bytes > 0)) {
        d = check_blocks_add(c, CHECK_BEFORE_START, &b->block);
        add_written(c, d, b->ends ? b->block.address - CHECK_WRITTEN_BYTES : end_changed_from(c, b),
                    b->block.address);
        return;
    }
    d = check_blocks_add(c, CHECK_OVERWRITTEN, &b->block);
    if (a != NULL && check_blocks_is_adjacent(c, a, b))
        d->neighbour = a->block;
    add_written(c, d, begin, b->ends ? begin + MARK_BYTES : b->block.address);
}

/* Return true if the write that came from in front overwrote all of S, from its annotation into its
 * guard. */
static bool
goes_through(const struct checker *c, const struct state *s)
{
    return s->known && !s->begins && !s->ends && guard_is_changed(c, s) && s->guard_first == 0;
}

/* Extend the latest corruption through S. Return true if it explains the corruption of NEXT, which
 * follows S and may be NULL. */
static bool
check_blocks_go_on(struct checker *c, const struct state *s, const struct state *next)
{
    struct check_corruption *d = &c->out->v[c->out->count - 1];

    d->known_bytes = s->block.address + s->block.size_bytes + s->guard_last + 1 - d->at;
    return next != NULL && next->known && check_blocks_is_adjacent(c, s, next) && !next->begins;
}

static void
check_annotated(struct checker *c)
{
    const struct blocks *all = &c->e->blocks;
    bool explained = false;

    read_annotated(c);
    for (size_t i = 0; i < c->state_count; i++) {
        const struct state *a = i > 0 ? &c->states[i - 1] : NULL;
        const struct state *next = i + 1 < c->state_count ? &c->states[i + 1] : NULL;

        if (!explained)
            check_begin(c, a, &c->states[i]);
        // Each block's guard is checked together with the next block's annotation.
        if (explained && goes_through(c, &c->states[i]))
            explained = check_blocks_go_on(c, &c->states[i], next);
        else
            explained = check_end(c, &c->states[i], next);
    }
    c->out->unmarked = all->count > c->state_count ? all->count - c->state_count : 0;
}

/* --- Others ----------------------------------------------------------------------------------- */

/* Set D's neighbour to the block in front, live or freed. */
static void
find_front(const struct checker *c, struct check_corruption *d)
{
    struct ended_block front = place_in_front(c->e, d->block.address);
    const struct block *live = blocks_before(&c->e->blocks, d->block.address - 1);

    if (front.address == 0 || d->block.address - front.address >= UINT64_C(1) << CORE_SPAN_BITS)
        return;
    d->neighbour_freed = live == NULL || live->address != front.address;
    d->neighbour = d->neighbour_freed ? (struct block){.address = front.address,
                                                       .site = front.site,
                                                       .flags = BLOCK_UNSIZED}
                                      : *live;
}

/* Check glibc's words in front of block B and behind it. */
static void
check_glibc(struct checker *c, const struct block *b)
{
    const struct memory *m = &c->e->memory;
    uint64_t word, behind, room;
    struct check_corruption *d;

    if (!memory_word(m, b->address - WORD, WORD, &word)) {
        c->out->unknown++;
        return;
    }
    c->out->looked++;
    if (b->flags & BLOCK_CORRUPTED) {
        d = check_blocks_add(c, CHECK_OVERWRITTEN, b);
        find_front(c, d);
        add_written(c, d, b->address - WORD, b->address);
        return;
    }
    room = word & ~UINT64_C(7);
    // A chunk in a separate mapping has no chunk behind it.
    if ((word & 2) != 0 || !memory_word(m, b->address - WORD + room, WORD, &behind))
        return;
    if ((behind & GLIBC_IN_USE) != 0 && (behind & ~UINT64_C(7)) >= GLIBC_LEAST &&
        behind % 16 < 8 && behind >> CORE_SPAN_BITS < UINT64_C(1) << 20)
        return;
    // If a live block follows, this word is checked together with that block.
    if (b + 1 < c->e->blocks.v + c->e->blocks.count && b[1].address == b->address + room)
        return;
    d = check_blocks_add(c, CHECK_PAST_END, b);
    add_written(c, d, b->address - WORD + room, b->address + room);
}

static void
check_plain(struct checker *c)
{
    const struct blocks *all = &c->e->blocks;

    c->out->possible = c->e->record.usable == CORE_USABLE_GLIBC;
    for (size_t i = 0; c->out->possible && i < all->count; i++)
        if ((all->v[i].flags & BLOCK_HOOKED) == 0)
            check_glibc(c, &all->v[i]);
}

void
check_blocks(const struct examined *e, struct arena *arena, struct checked *ret)
{
    struct checker c = {.e = e,
                        .arena = arena,
                        .out = ret,
                        .head_bytes = e->record.annotation_bytes,
                        .guard_bytes = e->record.guard_bytes};

    *ret = (struct checked){.annotated = e->record.annotated != 0, .possible = true};
    if (!ret->annotated)
        check_plain(&c);
    else if (c.head_bytes >= ANNOTATION_BYTES_MIN && c.head_bytes <= ANNOTATION_BYTES_MAX &&
             c.guard_bytes <= GUARD_MAX)
        check_annotated(&c);
    else
        ret->possible = false;
}

const struct block *
check_culprit(const struct check_corruption *d)
{
    return d->kind == CHECK_OVERWRITTEN && d->neighbour.address != 0 ? &d->neighbour : &d->block;
}
