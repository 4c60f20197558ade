/* python_reach.c: checks that frames of the interpreter are readable.
 *
 * Frames are linked by pointers in the program's memory. An extension may have overwritten them, a
 * handler may see an incomplete frame, a crash may have left any value. Following such a pointer
 * must not crash the program, or turn its crash into another one. So only memory that is proved
 * readable is read, and the proof must cost next to nothing for intact frames. These are in four
 * places:
 *
 *     frames of functions        chunks, mapped by the       a bit for each page, set by the hook
 *                                interpreter                 on arenas (python_pages.c)
 *     of generators, small       an arena                    the same
 *     of generators, large       malloc's                    a table of those seen; the hook on
 *                                                            frees removes them
 *     outermost of a C frame     the C stack                 between here and the highest page
 *                                                            that was found readable, by thread
 *
 * For all other addresses the kernel is asked each time, with one system call per page. This costs
 * programs with intact frames almost nothing: they need it only for the first look at the C stack
 * and at each large generator.
 *
 * The bits prove that memory is mapped, but not that it contains a frame. A garbage pointer to
 * another place in the same memory reads as a frame with garbage in it. So its code object is
 * checked too (python_name.c), and the number of frames is limited. */
#include "language/python_adapter.h"

#include "base/atomics.h"
#include "heaptap/language.h"

enum {
    PAGE_BYTES = 4096,
    KNOWN = 1 << 12,
    STACK_BYTES_MAX = 256 << 20, // Upper bound of the size of the C stack between here and the
                                 // outermost frame.
    STEP_PAGES_MAX = 4096,       // Upper bound of the pages examined in one event.
};

static const struct python_layout *layout;
static struct python_owners owners;
static uint64_t known[KNOWN]; // Atomic; addresses of frames in blocks of malloc.

/* The part [low, high) of this thread's C stack was proved readable. If high is 0, no part was
 * proved yet. */
static __thread struct {
    uintptr_t low, high;
} stack;

void
python_reach_begin(const struct python_layout *l, const struct python_owners *o)
{
    layout = l;
    owners = *o;
}

static inline uint64_t *
known_word(uintptr_t frame)
{
    return &known[(uint64_t)frame * UINT64_C(0x9e3779b97f4a7c15) >> 52]; // 12 bits
}

static_assert(KNOWN == 1 << (64 - 52), "the hash has as many bits");

void
python_reach_freed(const void *p)
{
    uintptr_t frame = (uintptr_t)p + layout->frame_head;
    uint64_t *word = known_word(frame);

    if (likely(load_relaxed(word) != frame))
        return;
    store_relaxed(word, UINT64_C(0));
    python_goes();
}

/* --- The C stack ------------------------------------------------------------------------------ */

static inline uintptr_t
page_of(uintptr_t address)
{
    return address & ~(uintptr_t)(PAGE_BYTES - 1);
}

/* Return the end of the readable pages that begin at FROM; at most END. */
static uintptr_t
readable_up_to(uintptr_t from, uintptr_t end)
{
    for (unsigned pages = 0; from < end; from += PAGE_BYTES, pages++)
        if (pages == STEP_PAGES_MAX || !heaptap_can_read((const void *)from, 1))
            break;
    return from;
}

/* Store the bounds. A handler may run between the stores and store its own bounds; then there are
 * none. */
static void
keep_stack(uintptr_t low, uintptr_t high)
{
    stack.high = 0;
    signal_fence();
    stack.low = low;
    signal_fence();
    stack.high = high;
    signal_fence();
    if (stack.low != low)
        stack.high = 0;
}

/* Return true if all bytes of the C stack from HERE to END are readable. */
static COLD bool
prove_stack(uintptr_t here, uintptr_t end)
{
    uintptr_t low = stack.low, high = stack.high;

    here = page_of(here);
    if (end - here > STACK_BYTES_MAX)
        return false;
    if (high == 0 || here >= high || low > here + STACK_BYTES_MAX)
        low = high = here; // The thread runs on another stack than before.
    if (here < low) {
        if (readable_up_to(here, low) < low)
            return false;
        low = here;
    }
    if (high < end)
        high = readable_up_to(high, page_of(end + PAGE_BYTES - 1));
    if (high > low)
        keep_stack(low, high);
    return high >= end;
}

static void
take_stack(struct python_reach *r, uintptr_t here)
{
    uintptr_t low = stack.low, high = stack.high;

    r->stack = here;
    r->stack_room = here >= low && high > here + layout->frame_bytes
                        ? high - here - layout->frame_bytes
                        : 0;
}

void
python_reach_start(struct python_reach *r)
{
    r->memory = r->memory_room = 0;
    r->asked = false;
    take_stack(r, (uintptr_t)__builtin_frame_address(0));
}

/* --- Frames ----------------------------------------------------------------------------------- */

/* Return true if the readable frame at FRAME is inside an object whose free reaches the adapter's
 * hook. */
static bool
is_in_object(uintptr_t frame)
{
    uintptr_t object = frame - layout->frame_head + PYTHON_COLLECTED_HEAD;
    const void *type;

    if (!heaptap_can_read((const void *)object, PYTHON_OBJECT_TYPE + 8u))
        return false;
    type = python_pointer((const void *)object, PYTHON_OBJECT_TYPE);
    if (type == NULL)
        return false;
    return type == owners.frame || type == owners.generator || type == owners.coroutine ||
           type == owners.async_generator;
}

static inline bool
python_reach_is_mapped(uintptr_t address)
{
    return python_is_page_of(&python_chunks, address) || python_is_page_of(&python_arenas, address);
}

bool
python_reach_prove(struct python_reach *r, const void *p)
{
    uintptr_t at = (uintptr_t)p, last = at + layout->frame_bytes - 1;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (at < PAGE_BYTES || at >> 47 != 0)
        return false;
    if (likely(python_reach_is_mapped(at) && python_reach_is_mapped(last))) {
        r->memory = page_of(at);
        r->memory_room = page_of(last) + PAGE_BYTES - r->memory - layout->frame_bytes + 1;
        return true;
    }
    if (likely(load_relaxed(known_word(at)) == at))
        return true;
    if (at >= here && prove_stack(here, last + 1)) {
        take_stack(r, here);
        return true;
    }
    if (!heaptap_can_read(p, layout->frame_bytes))
        return false;
    if (is_in_object(at)) {
        // No event will report the free of the displaced frame.
        if (load_relaxed(known_word(at)) != 0)
            python_goes();
        store_relaxed(known_word(at), (uint64_t)at);
    }
    r->asked = true;
    return true;
}
