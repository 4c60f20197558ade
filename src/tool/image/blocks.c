/* blocks.c: read the recorder's ledger into a list of blocks.
 *
 * The ledger has a few bytes for each granule of the heap (recorder/ledger/ledger.c explains why),
 * so all of it is read once, leaf by leaf, and then the side tables. An entry has no size. For
 * glibc, the word in front of the block has the usable size. An overflow of the preceding block
 * overwrites that word, so a size is trusted only if the block then ends before the next one
 * begins.
 *
 * Every byte is untrusted. A span counts once, a block must lie in memory that the process had, and
 * there are no more blocks than granules. Spans share no leaf, so all leaves together are no larger
 * than the memory; reading stops where a ledger claims more. */
#include "image/blocks.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_ENTRIES = 1 << 14, SIDE_HEAD_BYTES = 16 };

#define SPAN_BYTES (UINT64_C(1) << CORE_SPAN_BITS)
#define ADDRESS_LIMIT (UINT64_C(1) << 47)
#define SIDE_SLOTS_MAX (UINT64_C(1) << 34)

struct reading {
    const struct memory *m;
    const struct core_record *r;
    struct arena *arena;
    struct blocks *b;
    uint64_t left_bytes; // Maximum size of all further leaves.
};

static uint64_t
span_of(const struct core_leaf *leaf)
{
    return leaf->span & -SPAN_BYTES;
}

static enum core_leaf_kind
blocks_kind(const struct core_leaf *leaf)
{
    return (enum core_leaf_kind)(leaf->span & (SPAN_BYTES - 1));
}

static bool
is_leaf(const struct core_leaf *leaf)
{
    return leaf->leaf != 0 && leaf->span < ADDRESS_LIMIT && blocks_kind(leaf) <= CORE_LEAF_WIDE;
}

/* An entry of malloc's ledger. */
struct blocks_entry {
    enum {
        ENTRY_NONE,
        ENTRY_BLOCK, // A live block, with its site and slack.
        ENTRY_WIDE,  // A live block, whose site and size are in the wide ledger.
        ENTRY_SIDE,  // A live block in a side table.
        ENTRY_ENDED, // A block that has ended, with its site; 0 = in the wide ledger.
    } kind;
    uint32_t site, slack_bytes;
    uint32_t sub_bytes; // Offset of the block in its granule.
};

static bool
is_packed(const struct core_record *r)
{
    return r->version > 1 && r->granule_shift == CORE_PACKED_SHIFT;
}

/* Decode E, an entry of version 1. */
static struct blocks_entry
decode_v1(uint32_t e)
{
    uint32_t slack = e >> CORE_PLAIN_SLACK_SHIFT;
    struct blocks_entry ret = {.kind = ENTRY_BLOCK,
                               .site = e & CORE_SITE_MASK,
                               .slack_bytes = slack,
                               .sub_bytes = (e >> CORE_V1_SUB_SHIFT & 3) << 3};

    if (e == 0)
        ret.kind = ENTRY_NONE;
    else if (slack >= CORE_V1_SLACK_SIDE)
        ret.kind = slack == CORE_V1_SLACK_SIDE ? ENTRY_SIDE : ENTRY_ENDED;
    return ret;
}

static struct blocks_entry
decode(const struct core_record *r, uint32_t e)
{
    uint32_t kind = e >> CORE_KIND_SHIFT;
    bool packed = is_packed(r);
    struct blocks_entry ret = {.kind = ENTRY_BLOCK};

    if (r->version == 1)
        return decode_v1(e);
    if (packed) {
        ret.site = e & ((1u << CORE_PACKED_SITE_BITS) - 1);
        ret.slack_bytes = kind + CORE_PACKED_SLACK_MIN;
        ret.sub_bytes = (e >> CORE_PACKED_SUB_SHIFT & 1) << 4;
    } else {
        ret.site = e & CORE_SITE_MASK;
        ret.slack_bytes = e >> CORE_PLAIN_SLACK_SHIFT;
    }
    if (e == 0)
        ret.kind = ENTRY_NONE;
    else if (kind == CORE_KIND_ENDED)
        ret.kind = ENTRY_ENDED;
    else if (kind == CORE_KIND_SIDE)
        ret.kind = ENTRY_SIDE;
    else if (kind == CORE_KIND_WIDE && packed)
        ret.kind = ENTRY_WIDE;
    else if (ret.site == 0 || kind == CORE_KIND_WIDE)
        ret.kind = ENTRY_NONE;
    return ret;
}

static int
by_span(const void *a, const void *b)
{
    const struct core_leaf *x = a, *y = b;

    return x->span < y->span ? -1 : x->span > y->span;
}

static void
list_leaves(struct reading *g)
{
    struct blocks *b = g->b;
    size_t capacity = 0, kept = 0;

    for (uint64_t i = 0; i < g->r->leaf_count && i / CORE_CHUNK_LEAVES < CORE_CHUNKS; i++) {
        uint64_t chunk = g->r->leaf_chunks[i / CORE_CHUNK_LEAVES];
        struct core_leaf leaf;

        if (memory_read(g->m, chunk + i % CORE_CHUNK_LEAVES * sizeof leaf, &leaf, sizeof leaf) <
            sizeof leaf) {
            b->missing_leaves++;
            continue;
        }
        if (!is_leaf(&leaf))
            continue;
        arena_grow(g->arena, &b->ledger, &capacity, b->leaves, sizeof *b->ledger);
        b->ledger[b->leaves++] = leaf;
    }
    if (b->leaves > 1)
        qsort(b->ledger, b->leaves, sizeof *b->ledger, by_span);
    for (size_t i = 0; i < b->leaves; i++)
        if (kept == 0 || b->ledger[i].span != b->ledger[kept - 1].span)
            b->ledger[kept++] = b->ledger[i];
    b->leaves = kept;
}

/* Return the leaf of KIND for ADDRESS, or NULL. */
static const struct core_leaf *
blocks_leaf_of(const struct blocks *b, uint64_t address, enum core_leaf_kind kind)
{
    size_t low = 0, high = b->leaves;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (b->ledger[middle].span < (address & -SPAN_BYTES) + kind)
            low = middle + 1;
        else
            high = middle;
    }
    return low < b->leaves && b->ledger[low].span == (address & -SPAN_BYTES) + kind
               ? &b->ledger[low]
               : NULL;
}

/* Append BLOCK if the process had memory there. */
static void
blocks_append(struct reading *g, struct block block)
{
    if (memory_region_at(g->m, block.address) != NULL)
        blocks_add(g->b, g->arena, block);
}

/* Append the block at ADDRESS for ENTRY of malloc's ledger, which has its site and slack. */
static void
blocks_add_entry(struct reading *g, uint64_t address, const struct blocks_entry *entry)
{
    struct block block = {.address = address,
                          .site = entry->site,
                          .slack_bytes = (uint8_t)entry->slack_bytes};
    uint64_t room;

    if (g->r->usable != CORE_USABLE_GLIBC) {
        block.flags = BLOCK_UNSIZED;
    } else if (memory_word(g->m, address - sizeof room, sizeof room, &room)) {
        room &= ~UINT64_C(7);
        if (room < block.slack_bytes || room > ADDRESS_LIMIT)
            block.flags = BLOCK_CORRUPTED;
        else
            block.size_bytes = room - block.slack_bytes;
    } else {
        block.flags = BLOCK_UNSIZED;
    }
    blocks_append(g, block);
}

/* Store the word of the wide ledger for ADDRESS in *RET. Return false if there is none. */
static bool
wide_word(const struct memory *m, const struct blocks *b, uint64_t address, uint64_t *ret)
{
    const struct core_leaf *leaf = blocks_leaf_of(b, address, CORE_LEAF_WIDE);

    return leaf != NULL &&
           memory_word(m, leaf->leaf + ((address - span_of(leaf)) >> CORE_PACKED_SHIFT) * 8, 8,
                       ret);
}

/* Append the block at ADDRESS, which is in the wide ledger. */
static void
blocks_add_wide(struct reading *g, uint64_t address)
{
    struct block block = {.address = address};
    uint64_t word, room;

    if (!wide_word(g->m, g->b, address, &word)) {
        g->b->missing_leaves++;
        return;
    }
    block.site = (uint32_t)word & CORE_SITE_MASK;
    block.size_bytes = word >> CORE_HOOKED_SIZE_SHIFT;
    if (memory_word(g->m, address - sizeof room, sizeof room, &room) &&
        (room & ~UINT64_C(7)) - block.size_bytes <= UINT8_MAX)
        block.slack_bytes = (uint8_t)((room & ~UINT64_C(7)) - block.size_bytes);
    blocks_append(g, block);
}

/* Read COUNT entries of ENTRY_BYTES each from a leaf at ADDRESS into ENTRIES. Return the number
 * read. */
static size_t
read_piece(struct reading *g, uint64_t address, void *entries, size_t count, size_t entry_bytes)
{
    size_t wanted = count * entry_bytes, got;

    if (wanted > g->left_bytes)
        wanted = (size_t)g->left_bytes;
    got = memory_read(g->m, address, entries, wanted);
    g->left_bytes -= got;
    return got / entry_bytes;
}

static void
read_entries(struct reading *g, const struct core_leaf *leaf)
{
    uint32_t shift = g->r->granule_shift;
    size_t count = SPAN_BYTES >> shift;
    uint32_t *entries = xmalloc(PIECE_ENTRIES * sizeof *entries);

    for (size_t i = 0; i < count; i += PIECE_ENTRIES) {
        size_t some = count - i < PIECE_ENTRIES ? count - i : PIECE_ENTRIES;
        size_t got =
            read_piece(g, leaf->leaf + i * sizeof *entries, entries, some, sizeof *entries);

        for (size_t k = 0; k < got; k++) {
            struct blocks_entry e = decode(g->r, entries[k]);
            uint64_t address = span_of(leaf) + ((i + k) << shift) + e.sub_bytes;

            if (e.kind == ENTRY_BLOCK)
                blocks_add_entry(g, address, &e);
            else if (e.kind == ENTRY_WIDE)
                blocks_add_wide(g, address);
        }
        if (got < some) {
            g->b->missing_leaves++;
            break;
        }
    }
    free(entries);
}

static void
read_hooked(struct reading *g, const struct core_leaf *leaf)
{
    size_t count = SPAN_BYTES >> CORE_HOOKED_SHIFT;
    uint64_t *entries = xmalloc(PIECE_ENTRIES * sizeof *entries);

    for (size_t i = 0; i < count; i += PIECE_ENTRIES) {
        size_t some = count - i < PIECE_ENTRIES ? count - i : PIECE_ENTRIES;
        size_t got =
            read_piece(g, leaf->leaf + i * sizeof *entries, entries, some, sizeof *entries);

        for (size_t k = 0; k < got; k++) {
            uint32_t site = (uint32_t)entries[k] & CORE_SITE_MASK;
            uint32_t size = (uint32_t)(entries[k] >> CORE_HOOKED_SIZE_SHIFT);

            if ((uint32_t)entries[k] == 0 || size >= CORE_HOOKED_ENDED)
                continue;
            blocks_append(g,
                          (struct block){.address = span_of(leaf) + ((i + k) << CORE_HOOKED_SHIFT),
                                         .size_bytes = size,
                                         .site = site,
                                         .flags = BLOCK_HOOKED});
        }
        if (got < some) {
            g->b->missing_leaves++;
            break;
        }
    }
    free(entries);
}

static void
blocks_add_side(struct reading *g, const struct core_side_slot *slot)
{
    uint32_t how = (uint32_t)slot->how & ((1u << CORE_HOW_BITS) - 1);
    uint64_t size_bits = 64 - CORE_SITE_BITS;
    struct block block = {.address = slot->key & ~CORE_HOOKED_KEY,
                          .size_bytes = slot->value & ((UINT64_C(1) << size_bits) - 1),
                          .site = (uint32_t)(slot->value >> size_bits)};

    if (slot->key <= 1 || block.site == 0 || block.address >= ADDRESS_LIMIT)
        return;
    block.flags = slot->key & CORE_HOOKED_KEY ? BLOCK_HOOKED : 0;
    if (how == CORE_HOW_BACKING) {
        block.flags |= BLOCK_BACKING;
        block.size_bytes &= (UINT64_C(1) << CORE_BACKING_SIZE_BITS) - 1;
    } else if (how != 0) {
        block.flags |= BLOCK_SAMPLE | (how & 1 ? (uint8_t)BLOCK_ROUNDED_UP : 0);
        block.mode = (uint16_t)((how >> CORE_HOW_MODE_SHIFT) - 1);
    }
    blocks_append(g, block);
}

static void
blocks_read_side(struct reading *g, uint64_t table)
{
    struct core_side_slot *slots;
    uint64_t mask, count;

    if (!memory_word(g->m, table, sizeof mask, &mask)) {
        g->b->missing_leaves++;
        return;
    }
    count = mask + 1;
    if (count == 0 || count > SIDE_SLOTS_MAX || memory_region_at(g->m, table) == NULL)
        return;
    slots = xmalloc(PIECE_ENTRIES * sizeof *slots);
    for (uint64_t i = 0; i < count; i += PIECE_ENTRIES) {
        size_t some = count - i < PIECE_ENTRIES ? (size_t)(count - i) : PIECE_ENTRIES;
        size_t got = memory_read(g->m, table + SIDE_HEAD_BYTES + i * sizeof *slots, slots,
                                 some * sizeof *slots) /
                     sizeof *slots;

        for (size_t k = 0; k < got; k++)
            blocks_add_side(g, &slots[k]);
        if (got < some) {
            g->b->missing_leaves++;
            break;
        }
    }
    free(slots);
}

static int
blocks_by_address(const void *a, const void *b)
{
    const struct block *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (int)(x->flags & BLOCK_HOOKED) - (int)(y->flags & BLOCK_HOOKED);
}

/* Mark blocks that would extend into the next block as corrupted. A wrapper's block may lie within
 * a block of malloc, so only blocks of malloc are compared with each other. */
static void
blocks_decide_sizes(struct blocks *b)
{
    struct block *next = NULL;

    for (size_t i = b->count; i-- > 0;) {
        struct block *block = &b->v[i];

        if (block->flags & BLOCK_HOOKED)
            continue;
        if (next != NULL && block->size_bytes > next->address - block->address) {
            block->flags |= BLOCK_CORRUPTED;
            block->size_bytes = 0;
        }
        next = block;
    }
    for (size_t i = 0; i < b->count; i++) {
        b->damaged += (b->v[i].flags & BLOCK_CORRUPTED) != 0;
        b->unsized += (b->v[i].flags & BLOCK_UNSIZED) != 0;
    }
}

void
blocks_read(const struct memory *m, const struct core_record *r, struct arena *arena,
            struct blocks *ret)
{
    struct reading g = {.m = m, .r = r, .arena = arena, .b = ret};

    *ret = (struct blocks){0};
    for (size_t i = 0; i < m->region_count; i++)
        g.left_bytes += m->regions[i].readable_bytes;
    list_leaves(&g);
    for (size_t i = 0; i < ret->leaves; i++) {
        if (blocks_kind(&ret->ledger[i]) == CORE_LEAF_HOOKED)
            read_hooked(&g, &ret->ledger[i]);
        else if (blocks_kind(&ret->ledger[i]) == CORE_LEAF_MALLOC)
            read_entries(&g, &ret->ledger[i]);
    }
    for (size_t i = 0; i < CORE_SIDES; i++)
        if (r->sides[i] != 0)
            blocks_read_side(&g, r->sides[i]);
    blocks_sort(ret);
    blocks_decide_sizes(ret);
}

void
blocks_add(struct blocks *b, struct arena *arena, struct block block)
{
    arena_grow(arena, &b->v, &b->capacity, b->count, sizeof *b->v);
    b->v[b->count++] = block;
}

void
blocks_sort(struct blocks *b)
{
    size_t kept = 0;

    if (b->count > 1)
        qsort(b->v, b->count, sizeof *b->v, blocks_by_address);
    for (size_t i = 0; i < b->count; i++)
        if (kept == 0 || blocks_by_address(&b->v[kept - 1], &b->v[i]) != 0)
            b->v[kept++] = b->v[i];
    b->count = kept;
}

const struct block *
blocks_before(const struct blocks *b, uint64_t address)
{
    size_t low = 0, high = b->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (b->v[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &b->v[low - 1] : NULL;
}

bool
blocks_ended_before(const struct memory *m, const struct core_record *r, const struct blocks *b,
                    uint64_t address, uint64_t limit_bytes, struct ended_block *ret)
{
    uint64_t granule = UINT64_C(1) << r->granule_shift;
    uint64_t at = address & -granule;

    for (uint64_t back = 0; back < limit_bytes && back <= at; back += granule) {
        const struct core_leaf *leaf = blocks_leaf_of(b, at - back, CORE_LEAF_MALLOC);
        struct blocks_entry e;
        uint64_t entry, start, wide;

        // No block has ever begun in this span, or the dump lacks its leaf.
        if (leaf == NULL) {
            back += (at - back) & (SPAN_BYTES - 1) & -granule;
            continue;
        }
        if (!memory_word(m, leaf->leaf + ((at - back - span_of(leaf)) >> r->granule_shift) * 4,
                         4, &entry))
            return false;
        e = decode(r, (uint32_t)entry);
        start = at - back + e.sub_bytes;
        if (e.kind == ENTRY_NONE || start > address)
            continue;
        if (e.kind != ENTRY_ENDED)
            return false;
        if (e.site == 0 && wide_word(m, b, start, &wide))
            e.site = (uint32_t)wide & CORE_SITE_MASK;
        *ret = (struct ended_block){start, e.site};
        return true;
    }
    return false;
}

/* Store the birth of the block with KEY in *RET, from the side table at TABLE. Return false if the
 * table lacks KEY. */
static bool
find_side_birth(const struct memory *m, uint64_t table, uint64_t key, uint8_t *ret)
{
    struct core_side_slot slots[256];
    uint64_t mask, count;
    size_t got;

    if (!memory_word(m, table, sizeof mask, &mask) || mask >= SIDE_SLOTS_MAX)
        return false;
    count = mask + 1;
    for (uint64_t i = 0; i < count; i += got) {
        size_t some = count - i < countof(slots) ? (size_t)(count - i) : countof(slots);

        got = memory_read(m, table + SIDE_HEAD_BYTES + i * sizeof *slots, slots,
                          some * sizeof *slots) /
              sizeof *slots;
        for (size_t k = 0; k < got; k++)
            if (slots[k].key == key) {
                *ret = (uint8_t)(slots[k].how >> CORE_HOW_BITS);
                return true;
            }
        if (got == 0)
            break;
    }
    return false;
}

/* Store the birth of ENTRY, number INDEX of LEAF, in *RET. Return false if the dump lacks it. */
static bool
blocks_entry_birth(const struct memory *m, const struct core_record *r,
                   const struct core_leaf *leaf, uint64_t index, uint32_t entry, uint64_t *ret)
{
    if (is_packed(r)) {
        *ret = entry >> CORE_PACKED_BIRTH_SHIFT & (CORE_BIRTHS - 1u);
        return true;
    }
    return memory_word(m, leaf->leaf + (SPAN_BYTES >> r->granule_shift) * 4 + index, 1, ret);
}

bool
blocks_birth(const struct memory *m, const struct core_record *r, const struct blocks *b,
             const struct block *block, uint8_t *ret)
{
    const struct core_leaf *leaf = blocks_leaf_of(b, block->address, CORE_LEAF_MALLOC);
    uint64_t key = block->address | (block->flags & BLOCK_HOOKED ? CORE_HOOKED_KEY : 0);
    uint64_t index, entry, birth;
    struct blocks_entry e;

    if (leaf != NULL && !(block->flags & BLOCK_HOOKED)) {
        index = (block->address - span_of(leaf)) >> r->granule_shift;
        if (memory_word(m, leaf->leaf + index * 4, 4, &entry) &&
            ((e = decode(r, (uint32_t)entry)).kind == ENTRY_WIDE || e.kind == ENTRY_BLOCK) &&
            (e.kind == ENTRY_WIDE || e.site == block->site) &&
            span_of(leaf) + (index << r->granule_shift) + e.sub_bytes == block->address &&
            blocks_entry_birth(m, r, leaf, index, (uint32_t)entry, &birth)) {
            *ret = (uint8_t)birth;
            return true;
        }
    }
    for (size_t i = 0; i < CORE_SIDES; i++)
        if (r->sides[i] != 0 && find_side_birth(m, r->sides[i], key, ret))
            return true;
    return false;
}
