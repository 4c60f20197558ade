/* heaptap_embedded.c: a heap that stores with each block the stack that allocated it.
 *
 *     the real allocator's pointer
 *     │
 *     ▼ padding                                                          ▼ the user's pointer
 *     ┌─────────┬──────┬───────┬──────┬──────────────────┬───────┬──────┬────────────┬───────┐
 *     │ 0 … len │ HeaP │ shape │ size │ return addresses │ check │ ProF │ the user's │ guard │
 *     └─────────┴──────┴───────┴──────┴──────────────────┴───────┴──────┴────────────┴───────┘
 *
 * There is no list of blocks that could be corrupted or that must be maintained. This code, and the
 * readers of a dump, find a block by searching for its mark. A block is valid if its check matches,
 * a checksum of the whole annotation and of its address. Padding exists only if an alignment was
 * requested; its last word is its length.
 *
 * Invariant: while the lock is free, each allocated and not freed block has an annotation whose
 * check matches, and no other bytes in the heap match. So the code clears a mark before it returns
 * memory to the real allocator, and before a realloc that may move the block.
 *
 * A write past the end of a block changes the guard first, then the real allocator's own data, then
 * the annotation of the next block, starting with its mark. A write before the start changes the
 * annotation of the same block, starting at its end. This difference identifies the kind of damage:
 * see examine_annotation and examine_guard.
 *
 * A damaged block is still freed if the start of its memory is known: without this code the program
 * would have continued, and a leak would change its behaviour. */
#include "heaptap_embedded.h"

#ifndef HEAPTAP_EMBEDDED_FRAMES
#define HEAPTAP_EMBEDDED_FRAMES 8
#endif
#ifndef HEAPTAP_EMBEDDED_GUARD
#define HEAPTAP_EMBEDDED_GUARD 8
#endif
#ifndef HEAPTAP_EMBEDDED_ALIGN
#define HEAPTAP_EMBEDDED_ALIGN (2 * sizeof(void *))
#endif
#ifndef HEAPTAP_EMBEDDED_LOCK
#define HEAPTAP_EMBEDDED_LOCK() ((void)0)
#define HEAPTAP_EMBEDDED_UNLOCK() ((void)0)
#endif
#ifndef HEAPTAP_EMBEDDED_ON_DAMAGE
#define HEAPTAP_EMBEDDED_ON_DAMAGE(d) ((void)(d))
#endif
#ifndef HEAPTAP_EMBEDDED_UNKNOWN_FREE
#define HEAPTAP_EMBEDDED_UNKNOWN_FREE(p) ((void)(p))
#endif
#ifndef HEAPTAP_EMBEDDED_UNKNOWN_REALLOC
#define HEAPTAP_EMBEDDED_UNKNOWN_REALLOC(p, n) NULL
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define IS_BIG 1
#elif defined(__BYTE_ORDER__) || defined(_M_IX86) || defined(__LITTLE_ENDIAN__)
#define IS_BIG 0
#elif defined(HEAPTAP_EMBEDDED_BIG_ENDIAN)
#define IS_BIG HEAPTAP_EMBEDDED_BIG_ENDIAN
#else
#error "the byte order is unknown to this compiler: add -DHEAPTAP_EMBEDDED_BIG_ENDIAN=0 or 1"
#endif

#ifdef HEAPTAP_EMBEDDED_CLOCK
#define HAS_BIRTH 1
#else
#define HAS_BIRTH 0
#endif

#ifdef HEAPTAP_EMBEDDED_THREAD
#define HAS_THREAD 1
#else
#define HAS_THREAD 0
#endif

enum {
    WORD = sizeof(uintptr_t),
    ALIGN = HEAPTAP_EMBEDDED_ALIGN,
    GUARD = HEAPTAP_EMBEDDED_GUARD,
    FIXED = 16 + WORD * (1 + HAS_BIRTH + HAS_THREAD), // Bytes of an annotation without return
                                                      // addresses.
    // Number of return addresses: as many as fill the alignment, so that they use the space of
    // padding.
    FRAMES = HEAPTAP_EMBEDDED_FRAMES +
             (ALIGN - (FIXED + HEAPTAP_EMBEDDED_FRAMES * WORD) % ALIGN) % ALIGN / WORD,
    KIND = 0xa0 | (sizeof(uintptr_t) == 8) | IS_BIG << 1,
    PADDED = 1, // Flags, in the last byte of the shape.
    BIRTH = 2,
    THREAD = 4,
    EXTRAS = HAS_BIRTH * BIRTH | HAS_THREAD * THREAD, // Flags that every block has.
    SPARE = 4,  // Number of frames of this code that a hook may return before the caller's.
};

struct annotation {
    char heap[4];
    uint8_t kind, frame_places, guard_bytes, flags;
    size_t size;
#if HAS_BIRTH
    uintptr_t birth;
#endif
#if HAS_THREAD
    uintptr_t thread;
#endif
    uintptr_t frames[FRAMES];
    uint32_t check;
    char prof[4];
};

typedef char assert_words[sizeof(size_t) == sizeof(uintptr_t) && (WORD == 4 || WORD == 8) ? 1 : -1];
typedef char assert_align[ALIGN >= WORD && (ALIGN & (ALIGN - 1)) == 0 ? 1 : -1];
typedef char assert_frames[HEAPTAP_EMBEDDED_FRAMES >= 1 && FRAMES <= 255 ? 1 : -1];
typedef char assert_guard[GUARD >= 0 && GUARD <= 255 ? 1 : -1];
typedef char assert_layout[sizeof(struct annotation) == FIXED + FRAMES * WORD &&
                                   sizeof(struct annotation) % ALIGN == 0
                               ? 1
                               : -1];

static const char mark_begin[4] = {'H', 'e', 'a', 'P'};
static const char mark_end[4] = {'P', 'r', 'o', 'F'};
static const char mark_freed[4] = {'F', 'r', 'e', 'E'}; // Replaces ProF when the block is freed.
static const char mark_guard[4] = {'T', 'a', 'i', 'L'}; // Repeated.

static struct {
    struct heaptap_embedded_stats stats;
    uintptr_t low, high; // Bounds of all memory that the real allocator has returned.
    uintptr_t next;      // Address where the next step of a check begins; 0 = the start of the
                         // heap.
} state;

/* --- The real allocator ----------------------------------------------------------------------- */

#ifdef HEAPTAP_EMBEDDED_POOL_BYTES

/* The pool consists of adjacent chunks, each beginning with its size. Free chunks are in a list by
 * ascending address, so that two free neighbours can be merged. */
struct chunk {
    size_t size; // Bytes of the chunk with its head; a multiple of HEAD.
    struct chunk *next; // Valid only while the chunk is free.
};

enum { HEAD = (sizeof(size_t) + ALIGN - 1) / ALIGN * ALIGN, CHUNK_MIN = 2 * HEAD };

typedef char assert_chunk[sizeof(struct chunk) <= (size_t)2 * HEAD ? 1 : -1];

static union {
    unsigned char bytes[(size_t)(HEAPTAP_EMBEDDED_POOL_BYTES) / ALIGN * ALIGN];
    struct chunk first;
}
#if defined(__GNUC__)
__attribute__((aligned(ALIGN)))
#endif
pool;
static struct chunk *pool_free;
static int pool_is_ready;

static void *
pool_malloc(size_t size)
{
    struct chunk **link = &pool_free, *c;
    size_t wanted;

    if (!pool_is_ready) {
        pool.first.size = sizeof pool.bytes;
        pool.first.next = NULL;
        pool_free = &pool.first;
        pool_is_ready = 1;
    }
    if (size > sizeof pool.bytes - HEAD)
        return NULL;
    wanted = HEAD + (size + HEAD - 1) / HEAD * HEAD;
    if (wanted < CHUNK_MIN)
        wanted = CHUNK_MIN;
    while (*link != NULL && (*link)->size < wanted)
        link = &(*link)->next;
    c = *link;
    if (c == NULL)
        return NULL;
    if (c->size - wanted >= CHUNK_MIN) {
        struct chunk *rest = (struct chunk *)(void *)((unsigned char *)c + wanted);

        rest->size = c->size - wanted;
        rest->next = c->next;
        c->size = wanted;
        *link = rest;
    } else {
        *link = c->next;
    }
    return (unsigned char *)c + HEAD;
}

/* Merge A with the chunk after it, if that is B. */
static void
pool_join(struct chunk *a, struct chunk *b)
{
    if (b == NULL || (unsigned char *)a + a->size != (unsigned char *)b)
        return;
    a->size += b->size;
    a->next = b->next;
}

static void
pool_give_back(void *p)
{
    struct chunk *c = (struct chunk *)(void *)((unsigned char *)p - HEAD), *before = NULL;
    struct chunk **link = &pool_free;

    while (*link != NULL && *link < c) {
        before = *link;
        link = &before->next;
    }
    c->next = *link;
    *link = c;
    pool_join(c, c->next);
    if (before != NULL)
        pool_join(before, c);
}

#define REAL_MALLOC(n) pool_malloc(n)
#define REAL_FREE(p) pool_give_back(p)
#define LOOK_BEGIN ((uintptr_t)pool.bytes)
#define LOOK_END ((uintptr_t)pool.bytes + sizeof pool.bytes)

#elif defined(HEAPTAP_EMBEDDED_REAL_MALLOC) && defined(HEAPTAP_EMBEDDED_REAL_FREE)

#define REAL_MALLOC(n) HEAPTAP_EMBEDDED_REAL_MALLOC(n)
#define REAL_FREE(p) HEAPTAP_EMBEDDED_REAL_FREE(p)
#ifdef HEAPTAP_EMBEDDED_HEAP_BEGIN
#define LOOK_BEGIN ((uintptr_t)(HEAPTAP_EMBEDDED_HEAP_BEGIN))
#define LOOK_END ((uintptr_t)(HEAPTAP_EMBEDDED_HEAP_END))
#else
#define LOOK_BEGIN state.low
#define LOOK_END state.high
#endif

#else
#error "define HEAPTAP_EMBEDDED_REAL_MALLOC and _REAL_FREE, or HEAPTAP_EMBEDDED_POOL_BYTES"
#endif

/* Return a bound of the range that checks scan. These are functions, because compilers warn about
 * comparisons with a constant 0. */
static uintptr_t
look_begin(void)
{
    return LOOK_BEGIN;
}

static uintptr_t
look_end(void)
{
    return LOOK_END;
}

/* --- Bytes ------------------------------------------------------------------------------------ */

static int
is_mark(const void *p, const char mark[4])
{
    const char *c = p;

    return c[0] == mark[0] && c[1] == mark[1] && c[2] == mark[2] && c[3] == mark[3];
}

static void
put_mark(char *to, const char mark[4])
{
    to[0] = mark[0];
    to[1] = mark[1];
    to[2] = mark[2];
    to[3] = mark[3];
}

static void
copy(unsigned char *to, const unsigned char *from, size_t size)
{
    while (size-- > 0)
        *to++ = *from++;
}

static void
clear(unsigned char *to, size_t size)
{
    while (size-- > 0)
        *to++ = 0;
}

/* --- Annotations ------------------------------------------------------------------------------ */

static struct annotation *
annotation_of(const void *block)
{
    return (struct annotation *)((uintptr_t)block - sizeof(struct annotation));
}

static unsigned char *
bytes_of(const struct annotation *a)
{
    return (unsigned char *)((uintptr_t)a + sizeof *a);
}

static uint32_t
mix(uint32_t sum, uint32_t value)
{
    sum = (sum ^ value) * UINT32_C(0x9e3779b1);
    return sum ^ sum >> 15;
}

static uint32_t
mix_word(uint32_t sum, uintptr_t word)
{
    sum = mix(sum, (uint32_t)word);
#if UINTPTR_MAX > 0xffffffff
    sum = mix(sum, (uint32_t)(word >> 32));
#endif
    return sum;
}

/* Return the last word of the padding before A, which must have padding. */
static uintptr_t *
padding_length(const struct annotation *a)
{
    return (uintptr_t *)(uintptr_t)a - 1;
}

static uint32_t
check_of(const struct annotation *a)
{
    uint32_t sum = UINT32_C(0x50616548);

    sum = mix(sum, (uint32_t)a->kind | (uint32_t)a->frame_places << 8 |
                       (uint32_t)a->guard_bytes << 16 | (uint32_t)a->flags << 24);
    sum = mix_word(sum, a->size);
    if ((a->flags & PADDED) != 0)
        sum = mix_word(sum, *padding_length(a));
#if HAS_BIRTH
    sum = mix_word(sum, a->birth);
#endif
#if HAS_THREAD
    sum = mix_word(sum, a->thread);
#endif
    for (unsigned i = 0; i < FRAMES; i++)
        sum = mix_word(sum, a->frames[i]);
    return sum + (uint32_t)(uintptr_t)bytes_of(a);
}

/* Return true if an annotation starts at A, that is, if all bits of its mark and shape match. */
static int
has_shape(const struct annotation *a)
{
    return is_mark(a->heap, mark_begin) && a->kind == KIND && a->frame_places == FRAMES &&
           a->guard_bytes == GUARD && (a->flags & ~PADDED) == EXTRAS;
}

static int
is_whole(const struct annotation *a)
{
    return has_shape(a) && is_mark(a->prof, mark_end) && check_of(a) == a->check;
}

static void
write_guard(struct annotation *a)
{
    unsigned char *guard = bytes_of(a) + a->size;

    for (unsigned i = 0; i != GUARD; i++)
        guard[i] = (unsigned char)mark_guard[i % 4];
}

/* Return the index of the first changed guard byte of A; GUARD if none has changed. */
static unsigned
changed_guard(const struct annotation *a)
{
    const unsigned char *guard = bytes_of(a) + a->size;
    unsigned i = 0;

    while (i != GUARD && guard[i] == (unsigned char)mark_guard[i % 4])
        i++;
    return i;
}

static void
write_annotation(struct annotation *a, size_t size, size_t padding, const uintptr_t *frames)
{
    a->kind = KIND;
    a->frame_places = FRAMES;
    a->guard_bytes = GUARD;
    a->flags = (uint8_t)((padding > 0 ? PADDED : 0) | EXTRAS);
    a->size = size;
#if HAS_BIRTH
    a->birth = (uintptr_t)HEAPTAP_EMBEDDED_CLOCK();
#endif
#if HAS_THREAD
    a->thread = (uintptr_t)HEAPTAP_EMBEDDED_THREAD();
#endif
    for (unsigned i = 0; i < FRAMES; i++)
        a->frames[i] = frames[i];
    if (padding > 0) {
        clear((unsigned char *)a - padding, padding);
        *padding_length(a) = padding;
    }
    a->check = check_of(a);
    put_mark(a->prof, mark_end);
    put_mark(a->heap, mark_begin);
    write_guard(a);
}

/* Clear the marks of A, which is about to be freed. */
static void
clear_annotation(struct annotation *a)
{
    clear((unsigned char *)a->heap, 4);
    put_mark(a->prof, mark_freed);
}

/* Return the pointer that the real allocator returned for A. */
static unsigned char *
start_of(struct annotation *a)
{
    return (unsigned char *)a - ((a->flags & PADDED) != 0 ? *padding_length(a) : 0);
}

/* --- The stack -------------------------------------------------------------------------------- */

#if defined(HEAPTAP_EMBEDDED_UNWIND) && HEAPTAP_EMBEDDED_UNWIND

#include <unwind.h>

struct walk {
    uintptr_t *frames;
    unsigned count, max;
};

static _Unwind_Reason_Code
note_frame(struct _Unwind_Context *context, void *arg)
{
    struct walk *w = arg;
    uintptr_t address = (uintptr_t)_Unwind_GetIP(context);

    // At the end of a stack some unwinders return the same frame forever.
    if (address == 0 || w->count == w->max)
        return _URC_END_OF_STACK;
    w->frames[w->count++] = address;
    return _URC_NO_REASON;
}

static unsigned
find_frames(uintptr_t *frames, unsigned max, const uintptr_t *frame_pointer)
{
    struct walk w = {frames, 0, max};

    (void)frame_pointer;
    _Unwind_Backtrace(note_frame, &w);
    return w.count;
}

#elif defined(HEAPTAP_EMBEDDED_STACK)

static unsigned
find_frames(uintptr_t *frames, unsigned max, const uintptr_t *frame_pointer)
{
    (void)frame_pointer;
    return HEAPTAP_EMBEDDED_STACK(frames, max);
}

#elif defined(HEAPTAP_EMBEDDED_STACK_END)

#if defined(__riscv)
#define CALLER_AT (-2) // Words from the frame pointer to the saved one of the caller.
#define RETURN_AT (-1) // Words from the frame pointer to the return address.
#elif defined(__powerpc64__)
#define CALLER_AT 0
#define RETURN_AT 2
#elif defined(__powerpc__)
#define CALLER_AT 0
#define RETURN_AT 1
#else
#define CALLER_AT 0
#define RETURN_AT 1
#endif

/* Return true if FRAME can be the next frame: it is above the last one, aligned, and has room below
 * the end of the stack. */
static int
is_frame(const uintptr_t *frame, const uintptr_t *below)
{
    uintptr_t end = (uintptr_t)(HEAPTAP_EMBEDDED_STACK_END);

    return (uintptr_t)frame > (uintptr_t)below && (uintptr_t)frame % WORD == 0 &&
           (uintptr_t)frame <= end - 3 * WORD;
}

static unsigned
find_frames(uintptr_t *frames, unsigned max, const uintptr_t *frame_pointer)
{
    const uintptr_t *frame = frame_pointer, *caller;
    unsigned count = 0;

    // On PowerPC the return address is in the caller's frame.
    while (count < max) {
        caller = (const uintptr_t *)frame[CALLER_AT];
#if defined(__powerpc__)
        if (!is_frame(caller, frame))
            break;
        frames[count] = caller[RETURN_AT];
#else
        frames[count] = frame[RETURN_AT];
#endif
        if (frames[count] == 0)
            break;
        count++;
        if (!is_frame(caller, frame))
            break;
        frame = caller;
    }
    return count;
}

#else

static unsigned
find_frames(uintptr_t *frames, unsigned max, const uintptr_t *frame_pointer)
{
    (void)frames;
    (void)max;
    (void)frame_pointer;
    return 0;
}

#endif

/* Return true if two code addresses are equal. On ARM the lowest bit of a return address selects
 * the instruction set, and unwinders clear it. */
static int
is_same_code(uintptr_t a, uintptr_t b)
{
#if defined(__arm__)
    return (a | 1) == (b | 1);
#else
    return a == b;
#endif
}

/* Store the stack from RETURN_ADDRESS on in the array FRAMES, which has FRAMES elements. Frames
 * before RETURN_ADDRESS belong to this code and are dropped; if it is not found, keep all
 * frames. */
static void
capture(uintptr_t *frames, const void *return_address, const void *frame_pointer)
{
    uintptr_t found[FRAMES + SPARE];
    unsigned count = find_frames(found, FRAMES + SPARE, frame_pointer), first = 0;

    while (first < count && !is_same_code(found[first], (uintptr_t)return_address))
        first++;
    if (first == count)
        first = 0;
    if (count == 0)
        found[count++] = (uintptr_t)return_address;
    for (unsigned i = 0; i < FRAMES; i++)
        frames[i] = first + i < count ? found[first + i] : 0;
}

/* Capture the stack in a function that a program calls. */
#define CAPTURE(frames)                                                                            \
    capture(frames, __builtin_extract_return_addr(__builtin_return_address(0)),                    \
            __builtin_frame_address(0))

/* --- Damage ----------------------------------------------------------------------------------- */

static struct heaptap_embedded_block
describe(const struct annotation *a)
{
    struct heaptap_embedded_block b = {bytes_of(a), a->size, a->frames, 0};

    while (b.frame_count < FRAMES && a->frames[b.frame_count] != 0)
        b.frame_count++;
    return b;
}

struct check {
    heaptap_embedded_report *report;
    void *arg;
    const struct annotation *front; // The latest annotation that is whole.
    int front_is_damaged;           // True if the guard of `front` is damaged.
    size_t found;
};

static void
report_damage(struct check *c, enum heaptap_embedded_damage_kind kind, const struct annotation *a,
              const void *at)
{
    struct heaptap_embedded_damage d = {kind, describe(a), {0}, at};

    if (c->front != NULL)
        d.front = describe(c->front);
    c->found++;
    if (c->report != NULL)
        c->report(c->arg, &d);
}

/* Report a write past the end of A, whose annotation is whole. An underrun of the next block NEXT
 * may reach the end of A's guard, but not its start. Such damage is reported for NEXT instead,
 * below. */
static void
examine_guard(struct check *c, const struct annotation *a, const struct annotation *next)
{
    unsigned changed = changed_guard(a);
    const unsigned char *guard = bytes_of(a) + a->size;

    c->front_is_damaged = changed != GUARD;
    if (changed == GUARD)
        return;
    if (changed > 0 && next != NULL && !is_mark(next->prof, mark_end)) {
        c->front_is_damaged = 0;
        return;
    }
    report_damage(c, HEAPTAP_EMBEDDED_PAST_END, a, guard + changed);
}

/* Report the damage of A, whose mark and shape are valid, but whose end or check is wrong. A write
 * before the start of a block overwrites that end. An overrun of the block before A was already
 * reported. */
static void
examine_annotation(struct check *c, const struct annotation *a)
{
    if (!is_mark(a->prof, mark_end) && !c->front_is_damaged)
        report_damage(c, HEAPTAP_EMBEDDED_BEFORE_START, a, a->prof);
    else
        report_damage(c, HEAPTAP_EMBEDDED_OVERWRITTEN, a, &a->size);
}

/* Return the first annotation that begins in the bytes from AT on that one annotation occupies;
 * NULL if there is none. */
static const struct annotation *
find_next(uintptr_t at, uintptr_t end)
{
    uintptr_t last = at + sizeof(struct annotation) + (size_t)4 * ALIGN;

    at = (at + WORD - 1) / WORD * WORD;
    for (; at < last && at + sizeof(struct annotation) <= end; at += WORD)
        if (has_shape((const struct annotation *)at))
            return (const struct annotation *)at;
    return NULL;
}

/* Examine the memory at AT and return the address to continue at. END is the end of the heap. */
static uintptr_t
examine(struct check *c, uintptr_t at, uintptr_t end)
{
    const struct annotation *a = (const struct annotation *)at;
    uintptr_t room = end - at;

    if (room >= sizeof *a && has_shape(a)) {
        if (is_whole(a) && a->size <= room - sizeof *a &&
            room - sizeof *a - a->size + 1 > GUARD) {
            uintptr_t behind = (uintptr_t)bytes_of(a) + a->size + GUARD;

            examine_guard(c, a, find_next(behind, end));
            c->front = a;
            return (behind + WORD - 1) / WORD * WORD;
        }
        examine_annotation(c, a);
    } else if (room >= WORD && is_mark((const char *)at + WORD - 4, mark_end)) {
        // This is the end of an annotation whose start is overwritten: the damage comes from the
        // block before it.
        a = annotation_of((const void *)(at + WORD));
        if ((uintptr_t)a >= look_begin() && !has_shape(a))
            report_damage(c, HEAPTAP_EMBEDDED_OVERWRITTEN, a, a);
    }
    return at + WORD;
}

/* Return the last whole block that begins before A; NULL if there is none. Used when free or
 * realloc finds damage, without a walk over the heap. A may be outside the scanned range. */
static const struct annotation *
block_in_front(const struct annotation *a)
{
    uintptr_t at = (uintptr_t)a;

    if (at < look_begin() || at > look_end())
        return NULL;
    while (at >= look_begin() + WORD) {
        at -= WORD;
        if (has_shape((const struct annotation *)at) &&
            is_whole((const struct annotation *)at))
            return (const struct annotation *)at;
    }
    return NULL;
}

/* Return true if there may be an annotation at the address of A. Call before reading A: the memory
 * before a foreign pointer may be unmapped. */
static int
is_among_ours(const struct annotation *a)
{
    return (uintptr_t)a >= state.low && (uintptr_t)a < state.high;
}

static void
call_hook(void *arg, const struct heaptap_embedded_damage *damage)
{
    (void)arg;
    (void)damage;
    HEAPTAP_EMBEDDED_ON_DAMAGE(damage);
}

/* Count and report the damage of A, which the caller wants to free. */
static void
refuse(const struct annotation *a)
{
    struct check c = {call_hook, NULL, NULL, 0, 0};
    struct heaptap_embedded_damage stranger = {HEAPTAP_EMBEDDED_UNKNOWN_FREE, {0}, {0}, NULL};

    if (!is_among_ours(a)) {
        state.stats.unknown_frees++;
        stranger.block.address = stranger.at = bytes_of(a);
        call_hook(NULL, &stranger);
    } else if (has_shape(a)) {
        state.stats.damaged++;
        c.front = block_in_front(a);
        c.front_is_damaged = c.front != NULL && changed_guard(c.front) != GUARD;
        examine_annotation(&c, a);
    } else if (is_mark(a->prof, mark_freed)) {
        state.stats.unknown_frees++;
        report_damage(&c, HEAPTAP_EMBEDDED_FREED_TWICE, a, a->prof);
    } else if (is_mark(a->prof, mark_end)) {
        state.stats.damaged++;
        c.front = block_in_front(a);
        report_damage(&c, HEAPTAP_EMBEDDED_OVERWRITTEN, a, a);
    } else {
        state.stats.unknown_frees++;
        c.front = block_in_front(a);
        report_damage(&c, HEAPTAP_EMBEDDED_UNKNOWN_FREE, a, a);
    }
}

/* --- Blocks: callers hold the lock ------------------------------------------------------------ */

static void
count_block(const struct annotation *a)
{
    struct heaptap_embedded_stats *s = &state.stats;
    uintptr_t end = (uintptr_t)bytes_of(a) + a->size + GUARD;

    s->allocations++;
    s->live_blocks++;
    s->live_bytes += a->size;
    s->overhead_bytes += sizeof *a + GUARD;
    if (s->live_bytes > s->peak_bytes)
        s->peak_bytes = s->live_bytes;
    if (state.low == 0 || (uintptr_t)a < state.low)
        state.low = (uintptr_t)a;
    if (end > state.high)
        state.high = end;
}

static void
uncount_block(const struct annotation *a)
{
    struct heaptap_embedded_stats *s = &state.stats;

    s->frees++;
    s->live_blocks--;
    s->live_bytes -= a->size;
    s->overhead_bytes -= sizeof *a + GUARD;
}

/* Return a new block; NULL if there is no memory. ALIGNMENT is a power of two. */
static void *
allocate(size_t size, size_t alignment, const uintptr_t *frames)
{
    size_t more = sizeof(struct annotation) + GUARD + (alignment > ALIGN ? alignment - ALIGN : 0);
    unsigned char *start = size <= SIZE_MAX - more ? REAL_MALLOC(size + more) : NULL;
    struct annotation *a;
    uintptr_t block;

    if (start == NULL) {
        state.stats.failed++;
        return NULL;
    }
    block = (uintptr_t)start + sizeof(struct annotation);
    if (alignment > ALIGN)
        block = (block + alignment - 1) & ~(uintptr_t)(alignment - 1);
    a = annotation_of((void *)block);
    write_annotation(a, size, (size_t)((uintptr_t)a - (uintptr_t)start), frames);
    count_block(a);
    return (void *)block;
}

/* Return true if A's memory can be released. Report any damage first. */
static int
may_release(struct annotation *a)
{
    struct check c = {call_hook, NULL, NULL, 0, 0};

    if (!is_among_ours(a) || !is_whole(a)) {
        refuse(a);
        return 0;
    }
    if (changed_guard(a) != GUARD) {
        state.stats.damaged++;
        examine_guard(&c, a, NULL);
    }
    return 1;
}

static void
release(void *block)
{
    struct annotation *a = annotation_of(block);

    if (may_release(a)) {
        unsigned char *start = start_of(a);

        uncount_block(a);
        clear_annotation(a);
        REAL_FREE(start);
    } else if (is_among_ours(a) && has_shape(a) && (a->flags & PADDED) == 0) {
        // The start of the damaged block's memory is known, but its size is unknown.
        state.stats.frees++;
        state.stats.live_blocks--;
        clear_annotation(a);
        REAL_FREE(a);
    } else {
        HEAPTAP_EMBEDDED_UNKNOWN_FREE(block);
    }
}

#ifdef HEAPTAP_EMBEDDED_REAL_REALLOC

/* Move or resize A to SIZE bytes. Return NULL if there is no memory. */
static void *
resize(struct annotation *a, size_t size, const uintptr_t *frames)
{
    struct annotation *to;

    if (size > SIZE_MAX - sizeof *a - GUARD)
        return NULL;
    // Clear the marks first: if the block moves, its old memory must not look like a block.
    uncount_block(a);
    clear_annotation(a);
    to = HEAPTAP_EMBEDDED_REAL_REALLOC(a, sizeof *a + size + GUARD);
    if (to == NULL) {
        put_mark(a->prof, mark_end);
        put_mark(a->heap, mark_begin);
        count_block(a);
        state.stats.frees--;
        state.stats.allocations--;
        return NULL;
    }
    write_annotation(to, size, 0, frames);
    count_block(to);
    return bytes_of(to);
}

#endif

static void *
reallocate(void *block, size_t size, const uintptr_t *frames)
{
    struct annotation *a = annotation_of(block);
    size_t before;
    void *to;

    if (!may_release(a)) {
        to = NULL;
        if (!is_among_ours(a) || !has_shape(a))
            to = HEAPTAP_EMBEDDED_UNKNOWN_REALLOC(block, size);
        return to;
    }
#ifdef HEAPTAP_EMBEDDED_REAL_REALLOC
    if ((a->flags & PADDED) == 0) {
        to = resize(a, size, frames);
        state.stats.failed += to == NULL;
        return to;
    }
#endif
    before = a->size;
    to = allocate(size, ALIGN, frames);
    if (to == NULL)
        return NULL;
    copy(to, block, before < size ? before : size);
    uncount_block(a);
    clear_annotation(a);
    REAL_FREE(start_of(a));
    return to;
}

/* --- Functions that programs call ------------------------------------------------------------- */

static void *
locked_allocate(size_t size, size_t alignment, const uintptr_t *frames)
{
    void *block;

    HEAPTAP_EMBEDDED_LOCK();
    block = allocate(size, alignment, frames);
    HEAPTAP_EMBEDDED_UNLOCK();
    return block;
}

void *
HEAPTAP_EMBEDDED_NAME(malloc)(size_t size)
{
    uintptr_t frames[FRAMES];

    CAPTURE(frames);
    return locked_allocate(size, ALIGN, frames);
}

void
HEAPTAP_EMBEDDED_NAME(free)(void *block)
{
    if (block == NULL)
        return;
    HEAPTAP_EMBEDDED_LOCK();
    release(block);
    HEAPTAP_EMBEDDED_UNLOCK();
}

void *
HEAPTAP_EMBEDDED_NAME(calloc)(size_t count, size_t size)
{
    uintptr_t frames[FRAMES];
    void *block;

    CAPTURE(frames);
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    block = locked_allocate(count * size, ALIGN, frames);
    if (block != NULL)
        clear(block, count * size);
    return block;
}

void *
HEAPTAP_EMBEDDED_NAME(realloc)(void *block, size_t size)
{
    uintptr_t frames[FRAMES];

    CAPTURE(frames);
    HEAPTAP_EMBEDDED_LOCK();
    if (block == NULL) {
        block = allocate(size, ALIGN, frames);
    } else if (size == 0) {
        release(block);
        block = NULL;
    } else {
        block = reallocate(block, size, frames);
    }
    HEAPTAP_EMBEDDED_UNLOCK();
    return block;
}

void *
HEAPTAP_EMBEDDED_NAME(memalign)(size_t alignment, size_t size)
{
    uintptr_t frames[FRAMES];

    CAPTURE(frames);
    if ((alignment & (alignment - 1)) != 0)
        return NULL;
    return locked_allocate(size, alignment, frames);
}

void *
HEAPTAP_EMBEDDED_NAME(aligned_alloc)(size_t alignment, size_t size)
{
    uintptr_t frames[FRAMES];

    CAPTURE(frames);
    if ((alignment & (alignment - 1)) != 0)
        return NULL;
    return locked_allocate(size, alignment, frames);
}

int
HEAPTAP_EMBEDDED_NAME(posix_memalign)(void **ret_block, size_t alignment, size_t size)
{
    enum { INVALID = 22, NO_MEMORY = 12 }; // Values of EINVAL and ENOMEM in Linux and newlib.
    uintptr_t frames[FRAMES];
    void *block;

    CAPTURE(frames);
    if (alignment < WORD || (alignment & (alignment - 1)) != 0)
        return INVALID;
    block = locked_allocate(size, alignment, frames);
    if (block == NULL)
        return NO_MEMORY;
    *ret_block = block;
    return 0;
}

size_t
HEAPTAP_EMBEDDED_NAME(malloc_usable_size)(void *block)
{
    if (block == NULL || !is_among_ours(annotation_of(block)) || !is_whole(annotation_of(block)))
        return 0;
    return annotation_of(block)->size;
}

void
heaptap_embedded_get_stats(struct heaptap_embedded_stats *ret)
{
    HEAPTAP_EMBEDDED_LOCK();
    *ret = state.stats;
    HEAPTAP_EMBEDDED_UNLOCK();
}

size_t
heaptap_embedded_overhead(void)
{
    return sizeof(struct annotation) + GUARD;
}

size_t
heaptap_embedded_check(heaptap_embedded_report *report, void *arg)
{
    struct check c = {report, arg, NULL, 0, 0};
    uintptr_t at, end;

    HEAPTAP_EMBEDDED_LOCK();
    at = (look_begin() + WORD - 1) / WORD * WORD;
    end = look_end();
    while (at < end)
        at = examine(&c, at, end);
    HEAPTAP_EMBEDDED_UNLOCK();
    return c.found;
}

size_t
heaptap_embedded_check_next(size_t step, heaptap_embedded_report *report, void *arg)
{
    struct check c = {report, arg, NULL, 0, 0};
    uintptr_t at, stop, end;

    HEAPTAP_EMBEDDED_LOCK();
    end = look_end();
    at = state.next;
    // The heap may have changed since the last step, so AT may be inside a block, whose contents
    // could look like marks.
    if (at < look_begin() || at >= end)
        at = (look_begin() + WORD - 1) / WORD * WORD;
    c.front = block_in_front((const struct annotation *)at);
    if (c.front != NULL && (uintptr_t)bytes_of(c.front) + c.front->size + GUARD > at)
        at = ((uintptr_t)bytes_of(c.front) + c.front->size + GUARD + WORD - 1) / WORD * WORD;
    // The rounded end of the last block may be beyond the end of the heap.
    stop = at < end && end - at > step ? at + step : end;
    while (at < stop)
        at = examine(&c, at, end);
    state.next = at;
    HEAPTAP_EMBEDDED_UNLOCK();
    return c.found;
}
