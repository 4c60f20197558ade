/* hook_entries.h: entries for functions whose names or addresses are chosen at run time.
 *
 * A shape is a class of functions with the size and the block at the same positions among the
 * arguments; all other arguments are passed on unchanged. The entries in this file work like the
 * functions of shim.c. They pass the gate of sampling, record frees before the call and allocations
 * after it, and allow for signal handlers and exceptions. The busy word distinguishes the
 * function's own requests to malloc from its result (event/reentry.c).
 *
 * The blocks are stored in a separate ledger (ledger_hooked.c), because the bytes around them have
 * no known layout. A free by any hooked name frees the block, even if another name allocated it.
 *
 * A file that includes this one defines hooks_find_function and hooks_is_for_malloc. */
#ifndef ENTRY_HOOK_ENTRIES_H
#define ENTRY_HOOK_ENTRIES_H

#include "base/hook_slot.h"
#include "entry/entry.h"
#include "entry/recorded.h"

// The attached recorder's entries are reached from assembler code only.
#ifndef HOOK_ENTRY
#define HOOK_ENTRY static
#endif

/* Type of all hooked functions: no shape has more than five arguments, and each argument is a
 * word. */
typedef uintptr_t hooked_fn(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e);

/* Where a call stores the block that it returns. */
enum gives {
    GIVES_NOTHING,
    GIVES_BLOCK,        // In the function's result.
    GIVES_BY_REFERENCE, // In *a; the function's result is then 0.
};

struct call {
    struct hook_slot *slot;
    hooked_fn *function;
    uintptr_t a, b, c, d, e;
    struct arch_caller caller;
    enum gives gives;
};

/* Set C's function to the real function, which its slot has. */
void hooks_find_function(struct call *c);

/* Return true if the real allocator makes this call to implement malloc, realloc or free. Then the
 * outer event is recorded under its usual name. */
bool hooks_is_for_malloc(const struct call *c);

static INLINE uintptr_t
hooks_block_of(const struct call *c, uintptr_t result)
{
    if (c->gives == GIVES_BY_REFERENCE)
        return (int)result == 0 ? *(const uintptr_t *)c->a : 0;
    return c->gives == GIVES_BLOCK ? result : 0;
}

/* Make the call of C, guarded by G. */
static INLINE uintptr_t
make(const struct call *c, struct reentry_call *g)
{
    uintptr_t result;

    reentry_real_begin(g);
    result = c->function(c->a, c->b, c->c, c->d, c->e);
    reentry_real_end(g, (const void *)hooks_block_of(c, result));
    return result;
}

/* Make a call that is not recorded. */
static NOINLINE uintptr_t
hooks_pass(const struct call *c)
{
    REENTRY_CALL(guard) = reentry_guard(REENTRY_RECORDED, c->caller);

    return make(c, &guard);
}

/* Make the call of C for SIZE_BYTES, guarded by G. GATE is the gate's decision about the call. */
static INLINE uintptr_t
make_charged(const struct call *c, struct reentry_call *g, enum gate gate, size_t size_bytes)
{
    charge(g, gate, size_bytes);
    return make(c, g);
}

static INLINE void *
hooks_key_of(uintptr_t block)
{
    return block != 0 ? ledger_hooked_key(block) : NULL;
}

static INLINE uintptr_t
hooks_allocate(struct call *c, size_t size_bytes)
{
    uintptr_t result;
    enum gate gate;

    hooks_find_function(c);
    if (unlikely(hooks_is_for_malloc(c)))
        return hooks_pass(c);
    gate = gate_of(size_bytes, c->caller.slot);
    REENTRY_CALL(guard);
    reentry_begin(&guard, c->caller);
    if (unlikely(guard.kind != REENTRY_RECORDED))
        return make(c, &guard);
    result = make_charged(c, &guard, gate, size_bytes);
    if (likely(gate != GATE_PASS))
        allocated(&guard, gate, hooks_key_of(hooks_block_of(c, result)), size_bytes, c->caller);
    return result;
}

/* The arguments and the result of a reallocating call. */
struct resizing {
    const struct call *call;
    size_t size_bytes;
    enum gate gate;
    uintptr_t result;
};

static INLINE void *
resize_by(struct reentry_call *g, void *arguments)
{
    struct resizing *r = arguments;

    r->result = make_charged(r->call, g, r->gate, r->size_bytes);
    return hooks_key_of(r->result);
}

static INLINE uintptr_t
hooks_resize(struct call *c, uintptr_t block, size_t size_bytes)
{
    struct resizing r = {.call = c, .size_bytes = size_bytes};

    if (block == 0)
        return hooks_allocate(c, size_bytes);
    hooks_find_function(c);
    if (unlikely(hooks_is_for_malloc(c)))
        return hooks_pass(c);
    r.gate = gate_of(size_bytes, c->caller.slot);
    REENTRY_CALL(guard);
    reentry_begin(&guard, c->caller);
    if (unlikely(guard.kind != REENTRY_RECORDED))
        return make(c, &guard);
    realloc_in(&guard, r.gate, hooks_key_of(block), size_bytes, resize_by, &r);
    return r.result;
}

static INLINE uintptr_t
hooks_release(struct call *c, uintptr_t block)
{
    hooks_find_function(c);
    if (block == 0 || hooks_is_for_malloc(c) || gate_leaves_out(hooks_key_of(block)))
        return hooks_pass(c);
    REENTRY_CALL(guard);
    reentry_begin(&guard, c->caller);
    freed(&guard, hooks_key_of(block), c->caller);
    return make(c, &guard);
}

static size_t
length_up_to(const char *text, size_t most)
{
    size_t length = 0;

    while (text != NULL && length < most && text[length] != '\0')
        length++;
    return length;
}

#define ALLOCATES(name, size, gives)                                                               \
    HOOK_ENTRY uintptr_t enter_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,          \
                                  uintptr_t e, struct hook_slot *slot)                             \
    {                                                                                              \
        struct call call = {slot, NULL, a, b, c, d, e, ARCH_CALLER(), gives};                      \
                                                                                                   \
        return hooks_allocate(&call, size);                                                        \
    }

#define RESIZES(name, block, size)                                                                 \
    HOOK_ENTRY uintptr_t enter_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,          \
                                  uintptr_t e, struct hook_slot *slot)                             \
    {                                                                                              \
        struct call call = {slot, NULL, a, b, c, d, e, ARCH_CALLER(), GIVES_BLOCK};                \
                                                                                                   \
        return hooks_resize(&call, block, size);                                                   \
    }

#define RELEASES(name, block)                                                                      \
    HOOK_ENTRY uintptr_t enter_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,          \
                                  uintptr_t e, struct hook_slot *slot)                             \
    {                                                                                              \
        struct call call = {slot, NULL, a, b, c, d, e, ARCH_CALLER(), GIVES_NOTHING};              \
                                                                                                   \
        return hooks_release(&call, block);                                                        \
    }

ALLOCATES(malloc, a, GIVES_BLOCK)
ALLOCATES(calloc, product(a, b), GIVES_BLOCK)
ALLOCATES(memalign, b, GIVES_BLOCK)
ALLOCATES(posix_memalign, c, GIVES_BY_REFERENCE)
ALLOCATES(heap_calloc, product(b, c), GIVES_BLOCK)
ALLOCATES(strdup, length_up_to((const char *)a, SIZE_MAX) + 1, GIVES_BLOCK)
ALLOCATES(strndup, length_up_to((const char *)a, b) + 1, GIVES_BLOCK)
RESIZES(realloc, a, b)
RESIZES(reallocarray, a, product(b, c))
RESIZES(rust_realloc, a, d)
RESIZES(heap_realloc, b, c)
RELEASES(free, a)
RELEASES(heap_free, b)

#endif
