/* annotate_real.c: allocator functions that add an annotation to every block
 * (docs/internals/annotated.md).
 *
 *     program ─► shim ─► here: malloc(head + n + guard) ─► the real allocator
 *                          └► writes stack, time and size before, a guard after the block
 *
 * If the environment selects this mode when the real functions are resolved, the functions here
 * replace those in the table. Otherwise they are never called.
 *
 * The program gets a pointer into the allocator's block. So every function with a pointer parameter
 * looks the pointer up in annotated_map.h. A pointer that is not in the map is passed to the
 * allocator unchanged. It may be a block from before the recorder was loaded, from another
 * allocator, from a time when memory was short, or no block.
 *
 * The real allocator's promises must hold: its alignments, its errors, its errno, and its treatment
 * of sizes of zero. So requests that it would refuse are passed on unchanged, and a request that
 * fails only because of the annotation's size is repeated without an annotation.
 *
 * An allocator may call its own functions by names that lead here (guarded_next.c). Such inner
 * requests are passed on unchanged. tls.annotating is the frame of the outer call. A shallower
 * frame proves that the outer call has returned, or that a longjmp has left it.
 *
 * If an allocator defines operators new and delete, these also return blocks, and free blocks of
 * malloc. So they are replaced too, in the table of operators. A program's own operators, and the
 * C++ library's, call malloc and free and need no replacement.
 *
 * malloc_usable_size returns the requested size: the program may use that many bytes without
 * changing the guard. */
#include "annotator/annotate_real.h"

#include <errno.h>
#include <string.h>

#include "annotation/annotated_map.h"
#include "annotation/annotation_form.h"
#include "base/atomics.h"
#include "event/reentry.h"
#include "event/stack_frames.h"
#include "format/environment.h"
#include "platform/arch_x86_64.h"
#include "platform/host.h"
#include "platform/state.h"
#include "platform/sys.h"

enum {
    PAGE_BYTES = 4096,
    USUAL_ALIGNMENT = 16,
    ORIGIN_NEAR_BYTES = 16384, // Maximum distance outwards to the frame of the intercepted
                               // function.
};

#define ALIGNMENT_MAX ((size_t)1 << 40)

static struct real_allocator unannotated;

/* Return true if the call from SLOT comes from inside a function of the real allocator. */
static inline bool
annotate_is_within(uint64_t slot)
{
    return unlikely(slot < tls.annotating);
}

/* Return true if a block of SIZE_BYTES gets an annotation, which needs MORE_BYTES. SLOT is the
 * stack slot of the intercepted call. */
static inline bool
is_wanted(uint64_t slot, size_t size_bytes, size_t more_bytes)
{
    return !annotate_is_within(slot) && likely(size_bytes <= PTRDIFF_MAX - more_bytes) &&
           (state == NULL || load_relaxed(&state->ready) != READY_OFF);
}

/* Mark this thread as inside the real allocator, which may call back, until the end of the
 * scope. */
#define GUARD() REENTRY_CALL(call) = reentry_annotate(ARCH_SLOT())

static inline size_t
annotate_more_bytes(void)
{
    return annotation_form.head_bytes + annotation_form.guard_bytes;
}

/* --- Blocks ----------------------------------------------------------------------------------- */

/* Return the caller of the intercepted function if SLOT shows that this function is still running.
 * Otherwise return {0}. */
static struct arch_caller
annotate_origin_of(uint64_t slot)
{
    if (tls.origin_slot - slot >= ORIGIN_NEAR_BYTES && !reentry_is_in_real())
        return (struct arch_caller){0};
    return (struct arch_caller){tls.origin_slot, tls.origin_rbp};
}

/* Write the annotation. The frames are written directly to their slots: 255 of them would need 2
 * KiB of a possibly small stack. */
static NOINLINE void
annotate_write_annotation(void *block, size_t size_bytes, size_t padding_bytes, uint64_t slot)
{
    struct annotation_facts facts = {
        .size_bytes = size_bytes,
        .padding_bytes = padding_bytes,
    };

    facts.frame_count = frames_of(annotate_origin_of(slot), annotation_places(block),
                                  annotation_form.places, &facts.tid);
    facts.birth_ns = sys_clock_ns();
    annotation_write(block, &facts);
    annotated_begins(block, padding_bytes != 0);
}

/* Annotate a block of SIZE_BYTES in the allocator's memory at START. The block begins after
 * HEAD_BYTES, which include padding. Return the block; NULL if the map has no room for it. */
static void *
annotated(void *start, size_t head_bytes, size_t size_bytes, uint64_t slot)
{
    unsigned char *block = (unsigned char *)start + head_bytes;

    if (!annotated_reserve(block))
        return NULL;
    annotate_write_annotation(block, size_bytes, head_bytes - annotation_form.head_bytes, slot);
    check_event();
    return block;
}

/* Return P, a block of the allocator, to the program without an annotation. First clear the map's
 * byte for P. */
static inline void *
plain(void *p)
{
    if (p != NULL)
        annotated_clear_freed(p);
    return p;
}

/* Return the start of the memory of block P; NULL if it is no longer known. STATE_OF_P is P's byte
 * in the map. */
static void *
annotate_start_of(void *p, uint8_t state_of_p)
{
    unsigned char *start = (unsigned char *)p - annotation_form.head_bytes;
    struct annotation_state checked;

    if ((state_of_p & CORE_ANNOTATED_PADDED) == 0)
        return start;
    checked = annotation_validate(p);
    return checked.whole ? start - annotation_padding(p) : NULL;
}

static void *
outer_malloc(size_t size_bytes)
{
    GUARD();
    return unannotated.malloc(size_bytes);
}

static void
outer_free(void *p)
{
    GUARD();
    unannotated.free(p);
}

/* Allocate like malloc, for the intercepted call at SLOT. If there is no memory for the annotation,
 * return a block without annotation. */
static void *
annotate_allocate(size_t size_bytes, uint64_t slot)
{
    void *start = outer_malloc(size_bytes + annotate_more_bytes());
    void *block = start != NULL ? annotated(start, annotation_form.head_bytes, size_bytes, slot)
                                : NULL;

    if (unlikely(block == NULL)) {
        if (start != NULL)
            outer_free(start);
        block = plain(outer_malloc(size_bytes));
    }
    return block;
}

static void *
annotate_malloc(size_t size_bytes)
{
    uint64_t slot = ARCH_SLOT();

    return likely(is_wanted(slot, size_bytes, annotate_more_bytes()))
               ? annotate_allocate(size_bytes, slot)
               : plain(unannotated.malloc(size_bytes));
}

static void *
outer_calloc(size_t count, size_t each_bytes)
{
    GUARD();
    return unannotated.calloc(count, each_bytes);
}

static void *
annotate_calloc(size_t count, size_t each_bytes)
{
    uint64_t slot = ARCH_SLOT();
    size_t size_bytes;
    void *start, *block;

    if (__builtin_mul_overflow(count, each_bytes, &size_bytes) ||
        !is_wanted(slot, size_bytes, annotate_more_bytes()))
        return plain(unannotated.calloc(count, each_bytes));
    start = outer_calloc(1, size_bytes + annotate_more_bytes());
    block = start != NULL ? annotated(start, annotation_form.head_bytes, size_bytes, slot) : NULL;
    if (unlikely(block == NULL)) {
        if (start != NULL)
            outer_free(start);
        block = plain(outer_calloc(count, each_bytes));
    }
    return block;
}

static void
annotate_release(void *p)
{
    void *start = annotate_start_of(p, annotated_at(p));

    // Do not free memory whose start is unknown: a leak is better than a wrong free.
    if (start == NULL)
        return;
    annotation_clear(p);
    outer_free(start);
}

/* Check P, a live block that the caller is about to free or reallocate. */
static struct annotation_state
annotate_examine(void *p, enum disk_corruption_found found, uint64_t slot)
{
    struct annotation_state s = annotation_validate(p);

    if (unlikely(annotation_is_corrupted(s)))
        corruption_found(p, s, found, annotate_origin_of(slot));
    return s;
}

/* Return the pointer that the program would pass without annotations, if it frees P a second
 * time. */
static void *
freed_start(void *p)
{
    uint8_t state_of_p = annotated_at(p);
    char *start = (char *)p - annotation_form.head_bytes;

    if (state_of_p == 0)
        return p;
    return (state_of_p & CORE_ANNOTATED_PADDED) != 0 ? start - annotation_freed_padding(p) : start;
}

static void
annotate_free(void *p)
{
    enum annotated_end end;

    if (p == NULL)
        return;
    if (likely((annotated_at(p) & CORE_ANNOTATED_LIVE) != 0)) {
        check_event();
        annotate_examine(p, DISK_FOUND_BY_FREE, ARCH_SLOT());
    }
    end = annotated_ends(p);
    if (likely(end == ANNOTATED_ENDED))
        annotate_release(p);
    else if (end == ANNOTATED_NOT)
        // For the allocator, a second free of an annotated block must look like a double free.
        unannotated.free(freed_start(p));
}

/* --- Reallocation ----------------------------------------------------------------------------- */

/* Return the number of bytes that can be copied from P, whose annotation may be corrupted. */
static size_t
copied_bytes(void *p, uint8_t state_of_p)
{
    size_t room;

    if (annotation_validate(p).whole)
        return annotation_size(p);
    if ((state_of_p & CORE_ANNOTATED_PADDED) != 0)
        return 0;
    room = unannotated.malloc_usable_size((char *)p - annotation_form.head_bytes);
    return room > annotate_more_bytes() ? room - annotate_more_bytes() : 0;
}

/* Move the annotated block P to a new block. */
static void *
annotate_moved(void *p, uint8_t state_of_p, size_t size_bytes, uint64_t slot)
{
    size_t bytes = copied_bytes(p, state_of_p);
    void *to = annotate_allocate(size_bytes, slot);

    if (to == NULL)
        return NULL;
    memcpy(to, p, bytes < size_bytes ? bytes : size_bytes);
    if (annotated_ends(p) == ANNOTATED_ENDED)
        annotate_release(p);
    return to;
}

static void *
outer_realloc(void *p, size_t size_bytes)
{
    GUARD();
    return unannotated.realloc(p, size_bytes);
}

/* Return the block of SIZE_BYTES in memory at TO, which the allocator has resized, with a new
 * annotation. BYTES is the number of bytes to keep. */
static void *
annotate_again(void *to, size_t bytes, size_t size_bytes, uint64_t slot)
{
    void *block = annotated(to, annotation_form.head_bytes, size_bytes, slot);

    if (likely(block != NULL))
        return block;
    // The map has no room, but the new block exists. So move its bytes over the space of the
    // annotation.
    memmove(to, (char *)to + annotation_form.head_bytes, bytes < size_bytes ? bytes : size_bytes);
    return plain(to);
}

/* Resize P by the allocator's realloc. Requires that P is annotated, intact, not padded, and ended
 * by annotated_takes. */
static void *
annotate_resized(void *p, size_t size_bytes, uint64_t slot)
{
    char *start = (char *)p - annotation_form.head_bytes;
    size_t before_bytes = annotation_size(p);
    void *to;

    // Clear the marks first: if the block moves, its old memory must not look like a block.
    annotation_clear(p);
    to = outer_realloc(start, size_bytes == 0 ? 0 : size_bytes + annotate_more_bytes());
    if (size_bytes == 0)
        return plain(to); // The allocator's realloc has freed P, and may have returned a new block.
    if (to == NULL) {
        annotation_restore(p);
        annotated_begins(p, false);
        return NULL;
    }
    return annotate_again(to, before_bytes, size_bytes, slot);
}

/* Resize P, which is not live. For the allocator, the resizing of a freed annotated block must look
 * as it would without annotations: the same memory, as much more or less of it, and the bytes are
 * kept. */
static void *
annotate_freed(void *p, uint8_t state_of_p, size_t size_bytes, uint64_t slot)
{
    char *start = state_of_p != 0 ? freed_start(p) : p;
    size_t head_bytes = (size_t)((char *)p - start);
    size_t more_bytes = head_bytes + annotation_form.guard_bytes;
    void *to;

    if (likely(state_of_p == 0))
        return plain(unannotated.realloc(p, size_bytes));
    if (size_bytes == 0 || size_bytes > PTRDIFF_MAX - more_bytes)
        return plain(outer_realloc(start, size_bytes));
    to = outer_realloc(start, size_bytes + more_bytes);
    if (to == NULL)
        return NULL;
    if ((state_of_p & CORE_ANNOTATED_PADDED) == 0)
        return annotate_again(to, size_bytes, size_bytes, slot);
    memmove(to, (char *)to + head_bytes, size_bytes);
    return plain(to);
}

static void *
annotate_reallocate(void *p, uint8_t state_of_p, size_t size_bytes, uint64_t slot)
{
    struct annotation_state checked = annotate_examine(p, DISK_FOUND_BY_REALLOC, slot);
    bool whole = checked.whole && (state_of_p & CORE_ANNOTATED_PADDED) == 0;

    if (whole && annotated_takes(p))
        return annotate_resized(p, size_bytes, slot);
    if (size_bytes == 0) {
        if (annotated_ends(p) == ANNOTATED_ENDED)
            annotate_release(p);
        return plain(outer_realloc(outer_malloc(1), 0)); // NULL can be the allocator's result for
                                                         // size 0.
    }
    return annotate_moved(p, state_of_p, size_bytes, slot);
}

static void *
annotate_realloc(void *p, size_t size_bytes)
{
    uint64_t slot = ARCH_SLOT();
    uint8_t state_of_p = p != NULL ? annotated_at(p) : 0;

    if (p == NULL && is_wanted(slot, size_bytes, annotate_more_bytes()))
        return annotate_allocate(size_bytes, slot);
    if ((state_of_p & CORE_ANNOTATED_LIVE) == 0)
        return annotate_freed(p, state_of_p, size_bytes, slot);
    if (size_bytes > PTRDIFF_MAX - annotate_more_bytes()) {
        errno = ENOMEM;
        return NULL;
    }
    return annotate_reallocate(p, state_of_p, size_bytes, slot);
}

static void *
annotate_reallocarray(void *p, size_t count, size_t each_bytes)
{
    uint64_t slot = ARCH_SLOT();
    uint8_t state_of_p = p != NULL ? annotated_at(p) : 0;
    size_t size_bytes;

    if (p != NULL && state_of_p == 0)
        return plain(unannotated.reallocarray(p, count, each_bytes));
    if (__builtin_mul_overflow(count, each_bytes, &size_bytes) ||
        size_bytes > PTRDIFF_MAX - annotate_more_bytes()) {
        errno = ENOMEM;
        return NULL;
    }
    if (p == NULL)
        return is_wanted(slot, size_bytes, annotate_more_bytes())
                   ? annotate_allocate(size_bytes, slot)
                   : plain(unannotated.reallocarray(p, count, each_bytes));
    if ((state_of_p & CORE_ANNOTATED_LIVE) == 0)
        return annotate_freed(p, state_of_p, size_bytes, slot);
    return annotate_reallocate(p, state_of_p, size_bytes, slot);
}

/* --- Alignments ------------------------------------------------------------------------------- */

/* Return the distance in bytes from the allocator's address to the block. The allocator's address
 * must be aligned to ALIGN. */
static size_t
aligned_head(size_t align)
{
    return round_up(annotation_form.head_bytes, align > USUAL_ALIGNMENT ? align : USUAL_ALIGNMENT);
}

/* Return true if the block of an aligned allocation gets an annotation. SLOT is the stack slot of
 * the call. */
static bool
is_aligned_wanted(uint64_t slot, size_t align, size_t size_bytes)
{
    return align != 0 && (align & (align - 1)) == 0 && align <= ALIGNMENT_MAX &&
           is_wanted(slot, size_bytes, aligned_head(align) + annotation_form.guard_bytes);
}

static void *
outer_memalign(memalign_fn *f, size_t align, size_t size_bytes)
{
    GUARD();
    return f(align, size_bytes);
}

/* Return the least power of two that is at least ALIGN. */
static size_t
power_above(size_t align)
{
    if (align <= 1 || align > ALIGNMENT_MAX)
        return align > 0 ? align : 1;
    return (size_t)1 << (64 - __builtin_clzll(align - 1));
}

/* Call F, a function of the allocator with the type of memalign, with room for an annotation. If
 * the alignment is not a power of two, some allocators refuse it and others round it up. So pass
 * the program's alignment to F. The annotation moves the program's pointer by a multiple of
 * `power`, so the alignment is kept only if the block is aligned to `power`. Free any other
 * block. */
static void *
aligned(memalign_fn *f, size_t align, size_t size_bytes, uint64_t slot)
{
    size_t power = power_above(align), head_bytes = aligned_head(power);
    void *start, *block = NULL;

    if (!is_aligned_wanted(slot, power, size_bytes))
        return plain(f(align, size_bytes));
    start = outer_memalign(f, align, head_bytes + size_bytes + annotation_form.guard_bytes);
    if (start != NULL && (uintptr_t)start % power == 0)
        block = annotated(start, head_bytes, size_bytes, slot);
    if (unlikely(block == NULL)) {
        if (start != NULL)
            outer_free(start);
        block = plain(outer_memalign(f, align, size_bytes));
    }
    return block;
}

static void *
annotate_memalign(size_t align, size_t size_bytes)
{
    return aligned(unannotated.memalign, align, size_bytes, ARCH_SLOT());
}

static void *
annotate_aligned_alloc(size_t align, size_t size_bytes)
{
    return aligned(unannotated.aligned_alloc, align, size_bytes, ARCH_SLOT());
}

static int
outer_posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    GUARD();
    return unannotated.posix_memalign(ret_p, align, size_bytes);
}

static int
annotate_posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    uint64_t slot = ARCH_SLOT();
    size_t head_bytes = aligned_head(align);
    void *start = NULL, *block;
    int error;

    if (!is_aligned_wanted(slot, align, size_bytes)) {
        error = unannotated.posix_memalign(ret_p, align, size_bytes);
        if (error == 0)
            plain(*ret_p);
        return error;
    }
    error = outer_posix_memalign(&start, align,
                                 head_bytes + size_bytes + annotation_form.guard_bytes);
    block = error == 0 && start != NULL ? annotated(start, head_bytes, size_bytes, slot) : NULL;
    if (likely(block != NULL)) {
        *ret_p = block;
        return 0;
    }
    if (error == 0 && start != NULL)
        outer_free(start);
    error = outer_posix_memalign(ret_p, align, size_bytes);
    if (error == 0)
        plain(*ret_p);
    return error;
}

static void *
outer_paged(alloc_fn *f, size_t size_bytes)
{
    GUARD();
    return f(size_bytes);
}

/* Call F, the allocator's valloc or pvalloc, with room for an annotation. */
static void *
paged(alloc_fn *f, size_t size_bytes, uint64_t slot)
{
    void *start, *block;

    if (!is_aligned_wanted(slot, PAGE_BYTES, size_bytes))
        return plain(f(size_bytes));
    start = outer_paged(f, PAGE_BYTES + size_bytes + annotation_form.guard_bytes);
    block = start != NULL ? annotated(start, PAGE_BYTES, size_bytes, slot) : NULL;
    if (unlikely(block == NULL)) {
        if (start != NULL)
            outer_free(start);
        block = plain(outer_paged(f, size_bytes));
    }
    return block;
}

static void *
annotate_valloc(size_t size_bytes)
{
    return paged(unannotated.valloc, size_bytes, ARCH_SLOT());
}

/* Allocate for pvalloc. Its blocks consist of whole pages, and the program may use all of them. */
static void *
annotate_pvalloc(size_t size_bytes)
{
    bool fits = size_bytes <= PTRDIFF_MAX - PAGE_BYTES;

    return paged(unannotated.pvalloc, fits ? round_up(size_bytes, PAGE_BYTES) : size_bytes,
                 ARCH_SLOT());
}

static size_t
annotate_usable(void *p)
{
    uint8_t state_of_p = p != NULL ? annotated_at(p) : 0;

    return (state_of_p & CORE_ANNOTATED_LIVE) != 0 ? copied_bytes(p, state_of_p)
                                                   : unannotated.malloc_usable_size(p);
}

/* --- The allocator's own operators ------------------------------------------------------------ */

typedef void *new_fn(size_t size_bytes, uintptr_t second, uintptr_t third);
typedef void delete_fn(void *p, uintptr_t second, uintptr_t third);

static void *operators[REAL_OPERATOR_COUNT]; // The replaced operators.

/* Allocate a block for operator new. Return NULL to leave the call to the operator. */
static void *
annotate_new(size_t size_bytes, size_t align, uint64_t slot)
{
    if (annotate_is_within(slot))
        return NULL;
    return align != 0 ? aligned(unannotated.memalign, align, size_bytes != 0 ? size_bytes : 1, slot)
                      : annotate_malloc(size_bytes != 0 ? size_bytes : 1);
}

#define IS_NEW(name) (#name[2] == 'n')

/* Define the operators by two macros, as in shim.c: `new` returns a block, `delete` frees a
 * block. */
#define OPERATOR(name, aligns, version)                                                            \
    static void *annotate##name(uintptr_t first, uintptr_t second, uintptr_t third)                \
    {                                                                                              \
        void *original = operators[REAL_##name];                                                   \
                                                                                                   \
        if (IS_NEW(name)) {                                                                        \
            void *p = annotate_new(first, (aligns) ? second : 0, ARCH_SLOT());                     \
                                                                                                   \
            return p != NULL ? p : plain(((new_fn *)original)(first, second, third));              \
        }                                                                                          \
        if (first != 0 && (annotated_at((void *)first) & CORE_ANNOTATED_LIVE) != 0)                \
            annotate_free((void *)first);                                                          \
        else                                                                                       \
            ((delete_fn *)original)((void *)first, second, third);                                 \
        return NULL;                                                                               \
    }

REAL_OPERATORS(OPERATOR)

#define OPERATOR_ENTRY(name, aligns, version) [REAL_##name] = (void *)annotate##name,
static void *const wrappers[REAL_OPERATOR_COUNT] = {REAL_OPERATORS(OPERATOR_ENTRY)};

static void
annotate_take_operators(void)
{
    for (uint32_t i = 0; i < REAL_OPERATOR_COUNT; i++) {
        if (!real_cxx_operators[i].is_allocators || real_cxx_operators[i].function == NULL)
            continue;
        operators[i] = real_cxx_operators[i].function;
        signal_fence();
        real_cxx_operators[i].function = wrappers[i];
    }
}

/* --- Activation ------------------------------------------------------------------------------- */

/* Return true if blocks get annotations in this process. */
static bool
annotate_is_asked(void)
{
    // If malloc is not the recorder's, the recorder gets only blocks of other allocators.
    return host_number(ENVIRONMENT_ANNOTATE) != 0 && !dormant_here() && !real_is_sanitizer() &&
           real_is_ours();
}

void
annotate_real_in_front(struct real_allocator *n)
{
    if (!annotate_is_asked())
        return;
    unannotated = *n;
    check_start(annotate_release);
    annotation_choose(host_number(ENVIRONMENT_ANNOTATE), host_number(ENVIRONMENT_GUARD));
    signal_fence(); // Another thread may call a function as soon as it is in the table, so complete
                    // the layout first.
    n->malloc = annotate_malloc;
    n->free = annotate_free;
    n->calloc = annotate_calloc;
    n->realloc = annotate_realloc;
    n->reallocarray = annotate_reallocarray;
    n->posix_memalign = annotate_posix_memalign;
    n->aligned_alloc = annotate_aligned_alloc;
    n->memalign = annotate_memalign;
    n->valloc = annotate_valloc;
    n->pvalloc = annotate_pvalloc;
    n->malloc_usable_size = annotate_usable;
    annotate_take_operators();
}
