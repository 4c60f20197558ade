/* hooks_interposed.c: records functions whose names are chosen at run time.
 *
 *     program ─► je_malloc: a stub, first in link order ─► entry for its shape ─► next je_malloc
 *                 (a library that the tool has written,        (here)
 *                  base/hook_slot.h)
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
 * The next function is looked up at the start and, if it is missing then, at the first call. So the
 * lookup finds functions loaded by dlopen. A name without a definition gets a function that fails
 * allocations and ignores frees; hook_names_interposed.c hides such names from most programs.
 *
 * An allocator may implement malloc by a hooked function. Such a call has a return address in the
 * allocator's code or, after a tail call, in the recorder's code. The recorder detects such a call
 * and does not record the block twice.
 *
 * Calls that do not use the function's dynamic name are not recorded: calls inside the library or
 * executable that defines it, and inlined calls. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hook_slot.h"
#include "entry/entry.h"
#include "entry/recorded.h"
#include "platform/sys.h"
#include "unwind/unwind.h"

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

/* Ranges of code that may call a hooked function to implement malloc. */
static struct code {
    uint64_t start, size_bytes;
} ours, allocators;

static uintptr_t
nobody(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e)
{
    (void)a, (void)b, (void)c, (void)d, (void)e;
    errno = ENOMEM;
    return 0;
}

/* Mark the function of SLOT as existing and called. The mark is in the library of stubs, where the
 * tool reads it. */
static COLD void
mark_called(const struct hook_slot *slot)
{
    uint64_t page = slot->mark_off & ~(uint64_t)(HOOK_MARK_PAGE_BYTES - 1);
    const char *path = NULL;
    struct unwind_object o;
    struct stat st;
    uint8_t *marks;
    int fd;

    if (!sys_is_quiet() && unwind_find_object((uintptr_t)slot, &o))
        path = ((const struct link_map *)o.link_map)->l_name;
    fd = path != NULL ? sys_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0) : -1;
    if (fd < 0)
        return;
    if (sys_fstat(fd, &st) == 0 && (uint64_t)st.st_size >= page + HOOK_MARK_PAGE_BYTES) {
        marks = sys_mmap(NULL, HOOK_MARK_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, page);
        if (!sys_failed(marks)) {
            store_relaxed(&marks[slot->mark_off - page], (uint8_t)1);
            sys_munmap(marks, HOOK_MARK_PAGE_BYTES);
        }
    }
    sys_close(fd);
}

static struct code
code_around(const void *address)
{
    struct unwind_object o;

    if (!unwind_find_object((uintptr_t)address, &o))
        return (struct code){0};
    return (struct code){o.start, o.end - o.start};
}

/* Find the code ranges above. Call before any other function here. */
static void
find_allocator(void)
{
    struct code libc, found;

    real_calls_resolve();
    libc = code_around((const void *)real.dlclose);
    // real_calls may put a guarded function into `real`, so use the original functions.
    found = code_around((const void *)real_functions()->malloc);
    ours = code_around((const void *)real_calls_resolve);
    if (found.start != libc.start)
        allocators = found;
}

static COLD hooked_fn *
look_up(struct hook_slot *slot)
{
    void *f = (void *)(uintptr_t)load_relaxed(&slot->found);

    if (f == NULL && (f = hook_names_find(slot)) == NULL)
        return nobody;
    mark_called(slot);
    find_allocator();
    store_release(&slot->function, (uint64_t)(uintptr_t)f);
    return (hooked_fn *)f;
}

static INLINE void
hooks_find_function(struct call *c)
{
    c->function = (hooked_fn *)(uintptr_t)load_acquire(&c->slot->function);
    if (unlikely(c->function == NULL))
        c->function = look_up(c->slot);
}

/* Return true if the real allocator makes this call to implement malloc, realloc or free. Then the
 * outer event is recorded under its usual name. */
static INLINE bool
is_for_malloc(const struct call *c)
{
    uint64_t return_address = *(const uint64_t *)(uintptr_t)c->caller.slot;

    return return_address - ours.start < ours.size_bytes ||
           return_address - allocators.start < allocators.size_bytes;
}

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
    if (unlikely(is_for_malloc(c)))
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
    if (unlikely(is_for_malloc(c)))
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
    if (block == 0 || is_for_malloc(c) || gate_leaves_out(hooks_key_of(block)))
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
    static uintptr_t enter_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,              \
                                  uintptr_t e, struct hook_slot *slot)                             \
    {                                                                                              \
        struct call call = {slot, NULL, a, b, c, d, e, ARCH_CALLER(), gives};                      \
                                                                                                   \
        return hooks_allocate(&call, size);                                                        \
    }

#define RESIZES(name, block, size)                                                                 \
    static uintptr_t enter_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,              \
                                  uintptr_t e, struct hook_slot *slot)                             \
    {                                                                                              \
        struct call call = {slot, NULL, a, b, c, d, e, ARCH_CALLER(), GIVES_BLOCK};                \
                                                                                                   \
        return hooks_resize(&call, block, size);                                                   \
    }

#define RELEASES(name, block)                                                                      \
    static uintptr_t enter_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,              \
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

extern hook_entry_fn *const heaptap_hooks[HOOK_ENTRIES];

EXPORT hook_entry_fn *const heaptap_hooks[HOOK_ENTRIES] = {
    [HOOK_MALLOC] = enter_malloc,
    [HOOK_CALLOC] = enter_calloc,
    [HOOK_MEMALIGN] = enter_memalign,
    [HOOK_POSIX_MEMALIGN] = enter_posix_memalign,
    [HOOK_REALLOC] = enter_realloc,
    [HOOK_REALLOCARRAY] = enter_reallocarray,
    [HOOK_RUST_REALLOC] = enter_rust_realloc,
    [HOOK_HEAP_CALLOC] = enter_heap_calloc,
    [HOOK_HEAP_REALLOC] = enter_heap_realloc,
    [HOOK_STRDUP] = enter_strdup,
    [HOOK_STRNDUP] = enter_strndup,
    [HOOK_FREE] = enter_free,
    [HOOK_HEAP_FREE] = enter_heap_free,
    [HOOK_BEGIN] = hook_names_begin,
    [HOOK_BIND] = hook_names_bind,
};
