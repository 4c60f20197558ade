/* annotated_memory.c: find annotated blocks in two passes.
 *
 * The first pass reads the memory once, in ascending order, in chunks that fit into the cache. It
 * collects candidates: bytes that start like an annotation. Their addresses are not checked yet,
 * because the load address of an image may only follow from all candidates together.
 *
 *     marks ─► shape ─► candidates ─┬─► load address of each part ───────┬─► blocks
 *        └─► refused                └─► word size and byte order ────────┼─► refused, by reason
 *                                                                        └─► corruptions
 *
 * An unknown load address follows from the part's candidates. The checksum of a whole annotation
 * encodes its address (annotation.h), and address minus position is equal for all of them. Copies
 * and corrupted annotations each give a different load address, so the most frequent one is right.
 * If each candidate gives a different one, it is unknown, unless there is only one candidate.
 *
 * The second pass visits the candidates in order of position. A candidate at its encoded address is
 * a block, unless it lies within the bytes of the previous block. A candidate that encodes another
 * address in memory is a copy. The others are corrupted, if they have the shape of the blocks.
 * Corruptions are reported in a program's memory but not in its code, which also contains the
 * letters of marks.
 *
 * Ends of annotations are collected as well. If an end has no annotation, the start of the block
 * was overwritten from the block in front.
 *
 * A candidate takes 64 bytes of memory. Candidates without an end are limited in number, because a
 * forged file could have millions. */
#include "layout/annotated_memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_BYTES = 1 << 20,
    // Bytes to read beyond a chunk: room for an annotation and a small block.
    TAIL_BYTES = ANNOTATION_BYTES_MAX + 512,
    ENDLESS_MAX = 1 << 20,                   // Maximum number of candidates without an end.
    LOST_MAX = 1 << 24,                      // Maximum number of ends without an annotation.
    // Maximum distance of two adjacent blocks in an allocator.
    NEAR_BYTES = 64,
};

struct candidate {
    uint64_t off; // Position of the mark.
    uint64_t size, birth, thread;
    uint32_t part, stack;
    uint32_t address;
    uint32_t head_bytes;
    uint8_t kind, guard_bytes, guard_changed;
    bool has_end, has_birth, has_thread, guard_unknown;
};

/* The end of an annotation, whose start may be lost. */
struct end {
    uint64_t off; // Position after the end, where the user's bytes begin.
    uint32_t part;
};

struct finder {
    struct annotated_memory *m;
    const struct annotated_options *options;
    struct candidate *v;
    size_t count, capacity, endless;
    struct end *ends; // Ends by part and position, like the candidates.
    size_t end_count, end_capacity;
    uint8_t *buffer;
    uint64_t done, total;
};

static void *
grown(void *items, size_t *capacity, size_t count, size_t element_bytes)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity ? 2 * *capacity : 64;
    return xrealloc(items, *capacity * element_bytes);
}

/* --- Stacks ----------------------------------------------------------------------------------- */

static bool
is_stack(const struct annotated_memory *m, size_t stack, const uint64_t *frames, size_t count)
{
    return m->stack_first[stack + 1] - m->stack_first[stack] == count &&
           (count == 0 ||
            memcmp(&m->frames[m->stack_first[stack]], frames, count * sizeof *frames) == 0);
}

static uint32_t
intern_stack(struct annotated_memory *m, const uint64_t *frames, size_t count)
{
    uint64_t key = count, *known;
    bool is_new;

    for (size_t i = 0; i < count; i++)
        key = (key ^ frames[i]) * UINT64_C(0x9e3779b97f4a7c15), key ^= key >> 29;
    while (known = map_put(&m->stack_ids, key, &is_new), !is_new) {
        if (is_stack(m, *known, frames, count))
            return (uint32_t)*known;
        key++;
    }
    *known = m->stack_count;
    m->stack_first = grown(m->stack_first, &m->stack_capacity, m->stack_count + 1,
                           sizeof *m->stack_first);
    m->stack_first[0] = 0;
    for (size_t i = 0; i < count; i++) {
        m->frames = grown(m->frames, &m->frame_capacity, m->frame_count, sizeof *m->frames);
        m->frames[m->frame_count++] = frames[i];
    }
    m->stack_first[++m->stack_count] = m->frame_count;
    return (uint32_t)m->stack_count - 1;
}

size_t
annotated_stack(const struct annotated_memory *m, uint32_t stack, const uint64_t **ret_frames)
{
    *ret_frames = m->frames != NULL ? &m->frames[m->stack_first[stack]] : NULL;
    return m->stack_first[stack + 1] - m->stack_first[stack];
}

/* --- The first pass --------------------------------------------------------------------------- */

static size_t
annotated_memory_read_part(const struct memory_part *part, uint64_t off, void *to, size_t bytes)
{
    if (off >= part->size)
        return 0;
    if (bytes > part->size - off)
        bytes = part->size - off;
    return part->source->read(part->source->arg, part->off + off, to, bytes);
}

/* Check the guard of C, if it is among the LEFT bytes at AT, where the user's bytes begin. */
static void
look_at_guard(struct candidate *c, const uint8_t *at, size_t left)
{
    c->guard_changed = c->guard_bytes;
    c->guard_unknown = c->size > left || left - c->size < c->guard_bytes;
    if (!c->guard_unknown)
        c->guard_changed = (uint8_t)annotation_guard(at + c->size, c->guard_bytes);
}

/* Add the mark at AT of the buffer, which has GOT bytes. OFF is its position in PART. */
static void
take_mark(struct finder *f, uint32_t part, uint64_t off, size_t at, size_t got)
{
    struct annotated_memory *m = f->m;
    const uint8_t *bytes = f->buffer + at;
    struct annotation_shape shape;
    struct annotation a;
    struct candidate c;
    uint32_t word;

    if (got - at < ANNOTATION_SHAPE_BYTES) {
        m->refused[REFUSED_CUT_OFF]++;
        return;
    }
    if (!annotation_shape(bytes, &shape)) {
        m->refused[REFUSED_NOT_ONE]++;
        return;
    }
    word = annotation_word_bytes(shape.kind);
    if (got - at < shape.bytes || (shape.padded && at < word)) {
        m->refused[REFUSED_CUT_OFF]++;
        return;
    }
    annotation_read(&shape, bytes, shape.padded ? bytes - word : NULL, &a);
    if (!a.has_end && ++f->endless > ENDLESS_MAX) {
        m->refused[REFUSED_NO_END]++;
        return;
    }
    c = (struct candidate){
        .off = off,
        .size = a.size,
        .birth = a.birth,
        .thread = a.thread,
        .part = part,
        .stack = intern_stack(m, a.frames, a.frame_count),
        .address = a.address,
        .head_bytes = shape.bytes,
        .kind = (uint8_t)shape.kind,
        .guard_bytes = (uint8_t)shape.guard_bytes,
        .has_end = a.has_end,
        .has_birth = shape.has_birth,
        .has_thread = shape.has_thread,
    };
    look_at_guard(&c, bytes + shape.bytes, got - at - shape.bytes);
    f->v = grown(f->v, &f->capacity, f->count, sizeof *f->v);
    f->v[f->count++] = c;
    m->by_kind[shape.kind] += a.has_end;
}

static void
note_ends(struct finder *f, uint32_t part, uint64_t from, size_t at, size_t end)
{
    while ((at = annotation_find_end(f->buffer, at, end)) < end && f->end_count < LOST_MAX) {
        at += ANNOTATION_MARK_BYTES;
        f->ends = grown(f->ends, &f->end_capacity, f->end_count, sizeof *f->ends);
        f->ends[f->end_count++] = (struct end){from + at, part};
        if (at > end)
            return;
    }
}

/* Scan the chunk of PART that begins at START. Return its end. */
static uint64_t
scan_chunk(struct finder *f, uint32_t part, uint64_t start)
{
    const struct memory_part *p = &f->m->parts[part];
    uint64_t from = start < ANNOTATION_BEFORE_BYTES ? 0 : start - ANNOTATION_BEFORE_BYTES;
    uint64_t stop = p->size - start < CHUNK_BYTES ? p->size : start + CHUNK_BYTES;
    size_t want = (size_t)(stop - from) + TAIL_BYTES;
    size_t got = annotated_memory_read_part(p, from, f->buffer, want), end = (size_t)(stop - from);

    if (got <= start - from)
        return p->size;
    memset(f->buffer + got, 0, 16);
    if (end > got)
        end = got;
    for (size_t at = annotation_find(f->buffer, (size_t)(start - from), end); at < end;
         at = annotation_find(f->buffer, at + ANNOTATION_MARK_BYTES < end
                                             ? at + ANNOTATION_MARK_BYTES : end, end))
        if (at + ANNOTATION_MARK_BYTES <= got)
            take_mark(f, part, from + at, at, got);
    note_ends(f, part, from, (size_t)(start - from), end);
    f->m->read_bytes += end - (size_t)(start - from);
    return got < want && got < stop - from ? p->size : stop;
}

/* Return the first position in PART from START on that is not in a hole. */
static uint64_t
skip_holes(const struct memory_part *part, uint64_t start)
{
    uint64_t next;

    if (part->source->next_data == NULL)
        return start;
    next = part->source->next_data(part->source->arg, part->off + start);
    if (next <= part->off + start)
        return start;
    return next - part->off < part->size ? next - part->off : part->size;
}

static void
scan_part(struct finder *f, uint32_t part)
{
    const struct memory_part *p = &f->m->parts[part];
    uint64_t start = 0, before = f->done;

    while (start < p->size) {
        uint64_t data = skip_holes(p, start);

        f->m->hole_bytes += data - start;
        start = data < p->size ? scan_chunk(f, part, data) : p->size;
        f->done = before + start;
        if (f->options->progress != NULL)
            f->options->progress(f->options->progress_arg, f->done, f->total);
    }
}

/* --- Load addresses, word size and byte order ------------------------------------------------- */

static uint32_t
base_stated(const struct candidate *c)
{
    return c->address - (uint32_t)(c->off + c->head_bytes);
}

static enum annotation_kind
annotated_memory_choose_kind(const struct finder *f)
{
    size_t best = 0;

    if (f->options->kind >= 0)
        return (enum annotation_kind)f->options->kind;
    for (size_t i = 1; i < ANNOTATION_KINDS; i++)
        if (f->m->by_kind[i] > f->m->by_kind[best])
            best = i;
    return (enum annotation_kind)best;
}

/* Derive the load address of PART from its COUNT candidates at V. */
static void
find_base(const struct annotated_memory *m, const struct candidate *v, size_t count,
          struct memory_part *part)
{
    struct map votes = {0};
    size_t voters = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t base = base_stated(&v[i]);
        uint64_t *votes_of_base;

        if (!v[i].has_end || v[i].kind != m->kind ||
            v[i].address % annotation_word_bytes(m->kind) != 0)
            continue;
        voters++;
        votes_of_base = map_put(&votes, base, NULL);
        if (++*votes_of_base > part->stated_count) {
            part->stated_count = *votes_of_base;
            part->stated_base = base;
        }
    }
    if (part->stated_count == 1 && voters > 1)
        part->stated_count = 0;
    if (!part->base_known)
        part->base = part->stated_base;
    map_release(&votes);
}

static void
find_bases(struct finder *f)
{
    for (size_t i = 0, next; i < f->count; i = next) {
        for (next = i; next < f->count && f->v[next].part == f->v[i].part; next++)
            ;
        find_base(f->m, &f->v[i], next - i, &f->m->parts[f->v[i].part]);
    }
}

/* --- The second pass -------------------------------------------------------------------------- */

/* Return true if a part contains the address that C encodes. */
static bool
names_another_place(const struct annotated_memory *m, const struct candidate *c)
{
    for (size_t i = 0; i < m->part_count; i++)
        if (c->address - (uint32_t)m->parts[i].base < m->parts[i].size)
            return c->address % annotation_word_bytes((enum annotation_kind)c->kind) == 0;
    return false;
}

static struct annotated_block
annotated_memory_block_of(const struct annotated_memory *m, const struct candidate *c)
{
    const struct memory_part *part = &m->parts[c->part];
    uint64_t left = part->size - (c->off + c->head_bytes);

    return (struct annotated_block){
        .off = c->off + c->head_bytes,
        .size = c->size,
        .birth = c->birth,
        .thread = c->thread,
        .part = c->part,
        .stack = c->stack,
        .head_bytes = c->head_bytes,
        .guard_bytes = c->guard_bytes,
        .guard_changed = c->guard_changed,
        .has_birth = c->has_birth,
        .has_thread = c->has_thread,
        .cut_off = c->size > left,
    };
}

static void
read_guard(const struct annotated_memory *m, struct candidate *c)
{
    uint64_t at = c->off + c->head_bytes, left = m->parts[c->part].size - at;
    uint8_t guard[UINT8_MAX];

    if (!c->guard_unknown || c->size > left || left - c->size < c->guard_bytes)
        return;
    if (annotated_memory_read_part(&m->parts[c->part], at + c->size, guard, c->guard_bytes) ==
        c->guard_bytes)
        c->guard_changed = (uint8_t)annotation_guard(guard, c->guard_bytes);
}

/* Return the last block, if it is in the part of C. */
static const struct annotated_block *
block_before(const struct annotated_memory *m, const struct candidate *c)
{
    return m->count > 0 && m->v[m->count - 1].part == c->part ? &m->v[m->count - 1] : NULL;
}

static bool
annotated_memory_is_inside(const struct annotated_block *before, const struct candidate *c)
{
    return before != NULL && !before->cut_off && c->off < before->off + before->size;
}

static void
add_corruption(struct annotated_memory *m, size_t *capacity, enum corruption_kind kind,
               const struct annotated_block *block, size_t front)
{
    m->corruptions = grown(m->corruptions, capacity, m->corruption_count, sizeof *m->corruptions);
    m->corruptions[m->corruption_count++] = (struct annotated_corruption){kind, *block, front};
}

/* Return true if the end of C's annotation is missing and BLOCK is directly in front of C, so that
 * an overflow of BLOCK is likely. */
static bool
reaches_back(const struct annotated_block *block, const struct candidate *c)
{
    uint64_t end = block->off + block->size + block->guard_bytes;

    return c != NULL && c->part == block->part && !c->has_end && c->off >= end &&
           c->off - end <= NEAR_BYTES;
}

/* Return true if C is a block although its annotation lacks the end. Either its checksum agrees
 * with its position. Or its guard agrees with its size, and its shape agrees with the block before
 * it. */
static bool
is_block_without_end(const struct annotated_memory *m, const struct candidate *c)
{
    const struct memory_part *part = &m->parts[c->part];
    const struct annotated_block *before = block_before(m, c);

    if (base_stated(c) == (uint32_t)part->base && (part->base_known || part->stated_count > 0))
        return true;
    return before != NULL && before->head_bytes == c->head_bytes &&
           before->guard_bytes == c->guard_bytes && before->guard_changed == before->guard_bytes &&
           c->guard_bytes >= ANNOTATION_MARK_BYTES && c->guard_changed == c->guard_bytes;
}

/* Add the corrupted block of C if it has the shape of the block before. C is not inside a block. */
static void
add_broken(struct annotated_memory *m, size_t *capacity, const struct candidate *c)
{
    const struct annotated_block *before = block_before(m, c);
    struct annotated_block block = annotated_memory_block_of(m, c);
    bool overrun = before != NULL && before->guard_changed < before->guard_bytes;

    if (before == NULL || before->head_bytes != c->head_bytes ||
        before->guard_bytes != c->guard_bytes)
        return;
    add_corruption(m, capacity,
                   !c->has_end && !overrun ? CORRUPTION_BEFORE_START : CORRUPTION_OVERWRITTEN,
                   &block, m->count);
}

/* Add a corruption for END, whose start is missing, if the last block in front may have overflowed
 * into it. A guard without changes proves that the block has not. Without a guard, END must be near
 * enough to the last block to belong to the next one. */
static void
add_lost(struct annotated_memory *m, size_t *capacity, const struct end *end)
{
    const struct annotated_block *before = m->count > 0 ? &m->v[m->count - 1] : NULL;
    struct annotated_block block = {.off = end->off, .part = end->part};
    uint64_t behind;

    if (before == NULL || before->part != end->part || before->cut_off)
        return;
    behind = before->off + before->size + before->guard_bytes;
    if (end->off < behind || (m->parts[end->part].base + end->off) % 4 != 0 ||
        (before->guard_bytes != 0 ? before->guard_changed == before->guard_bytes
                                  : end->off - behind > before->head_bytes + NEAR_BYTES))
        return;
    block.stack = intern_stack(m, NULL, 0);
    add_corruption(m, capacity, CORRUPTION_OVERWRITTEN, &block, m->count);
}

/* Process the ends from index NEXT to candidate C, or all remaining ones if C is NULL. Return the
 * index of the next end. */
static size_t
check_ends(struct finder *f, size_t next, const struct candidate *c, size_t *capacity)
{
    for (; next < f->end_count; next++) {
        const struct end *e = &f->ends[next];

        if (c != NULL && (e->part > c->part || (e->part == c->part && e->off > c->off)))
            break;
        add_lost(f->m, capacity, e);
    }
    // This end belongs to C.
    while (c != NULL && next < f->end_count && f->ends[next].part == c->part &&
           f->ends[next].off <= c->off + c->head_bytes)
        next++;
    return next;
}

static enum refusal
why_not(const struct annotated_memory *m, const struct candidate *c)
{
    const struct memory_part *part = &m->parts[c->part];

    if (c->kind != m->kind)
        return REFUSED_OTHER_WORDS;
    if (annotated_memory_is_inside(block_before(m, c), c))
        return REFUSED_INSIDE;
    if (!c->has_end)
        return REFUSED_NO_END;
    if (base_stated(c) == (uint32_t)part->base && (part->base_known || part->stated_count > 0))
        return REFUSALS;
    return names_another_place(m, c) ? REFUSED_COPY : REFUSED_CORRUPTED;
}

/* Add the block of C. NEXT is the candidate after it, or NULL. */
static void
add_block(struct annotated_memory *m, size_t *block_capacity, size_t *corruption_capacity,
          const struct candidate *c, const struct candidate *next)
{
    const struct annotated_block *before = block_before(m, c);
    struct annotated_block b = annotated_memory_block_of(m, c);
    bool overrun = before != NULL && before->guard_changed < before->guard_bytes;
    size_t front = before != NULL ? m->count : 0;

    if (b.guard_changed < b.guard_bytes && b.guard_changed > 0 && reaches_back(&b, next))
        b.guard_changed = b.guard_bytes;
    m->v = grown(m->v, block_capacity, m->count, sizeof *m->v);
    m->v[m->count++] = b;
    m->bytes += b.size;
    m->cut_off += b.cut_off;
    if (!c->has_end)
        add_corruption(m, corruption_capacity,
                       overrun ? CORRUPTION_OVERWRITTEN : CORRUPTION_BEFORE_START, &b, front);
    if (b.guard_changed < b.guard_bytes)
        add_corruption(m, corruption_capacity, CORRUPTION_PAST_END, &b, front);
}

static void
annotated_memory_evaluate(struct finder *f)
{
    struct annotated_memory *m = f->m;
    size_t block_capacity = 0, corruption_capacity = 0, next_end = 0;

    for (size_t i = 0; i < f->count; i++) {
        struct candidate *c = &f->v[i];
        enum refusal why = why_not(m, c);

        next_end = check_ends(f, next_end, c, &corruption_capacity);
        read_guard(m, c);
        if (why == REFUSALS || (why == REFUSED_NO_END && is_block_without_end(m, c))) {
            add_block(m, &block_capacity, &corruption_capacity, c,
                      i + 1 < f->count ? &f->v[i + 1] : NULL);
            continue;
        }
        m->refused[why]++;
        if (why == REFUSED_NO_END || why == REFUSED_CORRUPTED)
            add_broken(m, &corruption_capacity, c);
    }
    check_ends(f, next_end, NULL, &corruption_capacity);
}

void
annotated_find(struct memory_part *parts, size_t count, const struct annotated_options *options,
               struct annotated_memory *ret)
{
    struct finder f = {.m = ret, .options = options};

    *ret = (struct annotated_memory){.parts = parts, .part_count = count};
    f.buffer = xmalloc(ANNOTATION_BEFORE_BYTES + CHUNK_BYTES + TAIL_BYTES + 16);
    for (size_t i = 0; i < count; i++)
        f.total += parts[i].size;
    for (size_t i = 0; i < count; i++)
        scan_part(&f, (uint32_t)i);
    ret->kind = annotated_memory_choose_kind(&f);
    find_bases(&f);
    annotated_memory_evaluate(&f);
    free(f.buffer);
    free(f.v);
    free(f.ends);
}

void
annotated_release(struct annotated_memory *m)
{
    map_release(&m->stack_ids);
    free(m->v);
    free(m->corruptions);
    free(m->frames);
    free(m->stack_first);
    *m = (struct annotated_memory){0};
}

uint64_t
annotated_address(const struct annotated_memory *m, const struct annotated_block *block)
{
    return m->parts[block->part].base + block->off;
}

bool
annotated_base_is_whole(const struct annotated_memory *m, uint32_t part)
{
    return m->parts[part].base_known || annotation_word_bytes(m->kind) == 4;
}
