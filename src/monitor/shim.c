/* shim.c: the intercepted functions.
 *
 * Each calls the next definition in link order and tells the recorder (hook.h). Nothing is
 * decided here but the order: a block enters the ledger after the allocator has given it out and
 * leaves it before the allocator gets it back, because from then on another thread may own the
 * address.
 *
 * What the gate lets pass (sample.h) goes straight through; so do frees of what it has let pass.
 * Everything below it is as if the gate were not there.
 *
 * Functions behind which the allocator (or libstdc++) may call back into ours, such as operator
 * new, are called with tls.busy at BUSY_NEXT: the inner call passes through, the outer one is
 * recorded, once. When the inner call fails the stay ends there: the new handler and the
 * exception that follow are the program's, and so is a block that a second attempt gets. The busy
 * word is put back by a cleanup, so that an exception thrown by operator new (bad_alloc, or a new
 * handler's own) leaves no trace (stay.h).
 *
 * malloc_usable_size is passed on as it is: there is nothing to record, but a program that finds
 * our malloc finds the function that belongs to it too.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/atomics.h"
#include "monitor/hook.h"
#include "monitor/hook_names.h"
#include "monitor/next.h"
#include "monitor/ordinary.h"
#include "monitor/orphan.h"
#include "monitor/sample.h"
#include "monitor/stay.h"
#include "monitor/symbols.h"

/* P came for SIZE_BYTES, and GATE did not let it pass. */
static inline void
allocated(enum gate gate, void *p, size_t size_bytes, struct arch_caller caller)
{
    if (unlikely(tls.busy != BUSY_NO)) {
        hook_nested(p, size_bytes, gate, caller);
        return;
    }
    if (unlikely(gate == GATE_FIRST))
        gate = sample_first(size_bytes, caller.slot);
    if (likely(gate == GATE_EXACT))
        hook_alloc(p, size_bytes, caller);
    else if (gate == GATE_SAMPLE)
        sample_alloc(p, size_bytes, caller);
}

/* The rare half of a function whose other half must not pay for it; called as its last act, so that
 * it has the place of the other on the stack, and the same caller. */
#ifdef BASE_STACK_UNCHECKED
#define TAIL INLINE // The harness is built without such calls.
#else
#define TAIL NOINLINE
#endif

static TAIL void *
malloc_unusual(size_t size_bytes)
{
    enum gate gate = sample_what(size_bytes, ARCH_SLOT());
    void *p = next.malloc(size_bytes);

    if (gate != GATE_PASS)
        allocated(gate, p, size_bytes, ARCH_CALLER());
    return p;
}

static TAIL void *
malloc_recorded(size_t size_bytes)
{
    void *p;

    if (unlikely(!sample_is_plain()))
        return malloc_unusual(size_bytes);
    // The caller is looked at afterwards, so that it need not be kept meanwhile.
    p = next.malloc(size_bytes);
    return hook_alloc(p, size_bytes, ARCH_CALLER());
}

EXPORT void *
malloc(size_t size_bytes)
{
    return sample_passes(size_bytes) ? next.malloc(size_bytes) : malloc_recorded(size_bytes);
}

static TAIL void *
calloc_recorded(size_t count, size_t each_bytes)
{
    enum gate gate = sample_what(count * each_bytes, ARCH_SLOT());
    void *p = next.calloc(count, each_bytes);

    if (gate != GATE_PASS)
        allocated(gate, p, count * each_bytes, ARCH_CALLER());
    return p;
}

EXPORT void *
calloc(size_t count, size_t each_bytes)
{
    return sample_passes(count * each_bytes) ? next.calloc(count, each_bytes)
                                             : calloc_recorded(count, each_bytes);
}

static TAIL void
free_unusual(void *p)
{
    if (tls.busy == BUSY_NO)
        hook_free(p, ARCH_CALLER());
    else
        hook_nested_free(p, ARCH_CALLER());
    next.free(p);
}

static TAIL void
free_settles(void *p)
{
    hook_settle();
    next.free(p);
}

static TAIL void
free_recorded(void *p)
{
    enum ordinary o = likely(tls.busy == BUSY_NO) ? ordinary_free(p, ARCH_SLOT()) : ORDINARY_NOT;

    if (likely(o == ORDINARY_DONE))
        next.free(p);
    else if (o == ORDINARY_TO_SETTLE)
        free_settles(p);
    else
        free_unusual(p);
}

EXPORT void
free(void *p)
{
    if (p == NULL)
        return;
    if (sample_left_out(p))
        next.free(p);
    else
        free_recorded(p);
}

/* The C23 forms; the size is a hint that the next allocator may not know how to take. */
void free_sized(void *p, size_t size_bytes);
void free_aligned_sized(void *p, size_t align, size_t size_bytes);

EXPORT void
free_sized(void *p, size_t size_bytes)
{
    (void)size_bytes;
    free(p);
}

EXPORT void
free_aligned_sized(void *p, size_t align, size_t size_bytes)
{
    (void)align;
    (void)size_bytes;
    free(p);
}

static inline void *
realloc_recorded(enum gate gate, void *p, size_t size_bytes, struct arch_caller caller)
{
    struct ledger_entry old;
    void *q;

    if (p == NULL) {
        q = next.realloc(p, size_bytes);
        if (gate != GATE_PASS)
            allocated(gate, q, size_bytes, caller);
        return q;
    }
    old = hook_realloc_begin(p, caller);
    if (unlikely(gate == GATE_FIRST))
        gate = sample_first(size_bytes, caller.slot);
    if (gate == GATE_SAMPLE && old.site == 0)
        old.size_bytes = sample_usable(p);
    q = next.realloc(p, size_bytes);
    if (likely(gate == GATE_EXACT))
        hook_realloc_end(p, old, q, size_bytes, q != NULL || size_bytes == 0, caller);
    else
        sample_realloc_end(p, old, q, size_bytes, q != NULL || size_bytes == 0, gate, caller);
    return q;
}

static COLD void *
realloc_nested(enum gate gate, void *p, size_t size_bytes, struct arch_caller caller)
{
    struct nest n;
    void *q;

    if (hook_nest_begins(&n, caller.slot) == NEST_RECORDED) {
        q = realloc_recorded(gate, p, size_bytes, caller);
        hook_nest_ends(&n);
        return q;
    }
    q = next.realloc(p, size_bytes);
    if (n.busy == BUSY_NEXT)
        hook_nested(q, size_bytes, gate, caller);
    return q;
}

EXPORT void *
realloc(void *p, size_t size_bytes)
{
    struct arch_caller caller = ARCH_CALLER();
    enum gate gate = sample_gate(size_bytes, caller.slot);

    if (gate == GATE_PASS && (p == NULL || sample_left_out(p)))
        return next.realloc(p, size_bytes);
    if (unlikely(tls.busy != BUSY_NO))
        return realloc_nested(gate, p, size_bytes, caller);
    return realloc_recorded(gate, p, size_bytes, caller);
}

EXPORT int
posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    enum gate gate = sample_gate(size_bytes, ARCH_SLOT());
    int error;

    if (gate == GATE_PASS)
        return next.posix_memalign(ret_p, align, size_bytes);
    error = next.posix_memalign(ret_p, align, size_bytes);
    allocated(gate, error ? NULL : *ret_p, size_bytes, ARCH_CALLER());
    return error;
}

#define ALIGNED(name)                                                                              \
    EXPORT void *name(size_t align, size_t size_bytes)                                             \
    {                                                                                              \
        enum gate gate = sample_gate(size_bytes, ARCH_SLOT());                                     \
        void *p;                                                                                   \
                                                                                                   \
        if (gate == GATE_PASS)                                                                     \
            return next.name(align, size_bytes);                                                   \
        p = next.name(align, size_bytes);                                                          \
        allocated(gate, p, size_bytes, ARCH_CALLER());                                             \
        return p;                                                                                  \
    }

#define PAGED(name)                                                                                \
    void *name(size_t size_bytes);                                                                 \
    EXPORT void *name(size_t size_bytes)                                                           \
    {                                                                                              \
        enum gate gate = sample_gate(size_bytes, ARCH_SLOT());                                     \
        void *p;                                                                                   \
                                                                                                   \
        if (gate == GATE_PASS)                                                                     \
            return next.name(size_bytes);                                                          \
        p = next.name(size_bytes);                                                                 \
        allocated(gate, p, size_bytes, ARCH_CALLER());                                             \
        return p;                                                                                  \
    }

void *memalign(size_t align, size_t size_bytes);
ALIGNED(aligned_alloc)
ALIGNED(memalign)
PAGED(valloc)
PAGED(pvalloc)

size_t malloc_usable_size(void *p);

EXPORT size_t
malloc_usable_size(void *p)
{
    return next.malloc_usable_size(p);
}

int dlclose(void *handle);

EXPORT int
dlclose(void *handle)
{
    int result;

    symbols_unload_begins();
    result = next.dlclose(handle);
    symbols_unload_ends();
    hook_names_forget();
    hook_unloaded(ARCH_SLOT());
    return result;
}

pid_t fork(void);
pid_t _Fork(void);

EXPORT pid_t
fork(void)
{
    return likely(tls.busy != BUSY_MONITOR) ? next.fork() : orphan_fork(next.fork);
}

EXPORT pid_t
_Fork(void)
{
    return likely(tls.busy != BUSY_MONITOR) ? next.async_fork() : orphan_fork(next.async_fork);
}

static inline void *
reallocarray_recorded(enum gate gate, void *p, size_t count, size_t each_bytes,
                      struct arch_caller caller)
{
    struct ledger_entry old = {0};
    size_t size_bytes;
    bool fits = !__builtin_mul_overflow(count, each_bytes, &size_bytes);
    bool ok;
    void *q;

    if (p != NULL && fits)
        old = hook_realloc_begin(p, caller);
    if (unlikely(gate == GATE_FIRST) && p != NULL)
        gate = sample_first(count * each_bytes, caller.slot);
    if (gate == GATE_SAMPLE && old.site == 0)
        old.size_bytes = sample_usable(p);
    tls.entered = caller.slot;
    tls.busy = BUSY_NEXT;
    q = next.reallocarray(p, count, each_bytes);
    tls.busy = BUSY_NO;
    ok = q != NULL || (fits && size_bytes == 0 && p != NULL);
    if (p == NULL && gate != GATE_PASS)
        allocated(gate, q, size_bytes, caller);
    else if (p != NULL && likely(gate == GATE_EXACT))
        hook_realloc_end(p, old, q, size_bytes, ok, caller);
    else if (p != NULL)
        sample_realloc_end(p, old, q, size_bytes, ok, gate, caller);
    return q;
}

EXPORT void *
reallocarray(void *p, size_t count, size_t each_bytes)
{
    struct arch_caller caller = ARCH_CALLER();
    // The next one may call back into realloc, which would be charged again.
    enum gate gate = sample_gate(count * each_bytes, caller.slot);
    struct charged charged = charged_begins(gate, count * each_bytes);
    struct nest n;
    void *q;

    if (likely(tls.busy == BUSY_NO)) {
        q = reallocarray_recorded(gate, p, count, each_bytes, caller);
        charged_ends(&charged);
        return q;
    }
    if (hook_nest_begins(&n, caller.slot) != NEST_RECORDED)
        return next.reallocarray(p, count, each_bytes);
    q = reallocarray_recorded(gate, p, count, each_bytes, caller);
    hook_nest_ends(&n);
    return q;
}

/* The operators, by their mangled names. Their parameters are at most three words, all passed in
 * registers, so one shape serves every form: what a form does not have is passed on unread. */
typedef void *new_fn(size_t size_bytes, uintptr_t second, uintptr_t third);
typedef void delete_fn(void *p, uintptr_t second, uintptr_t third);

/* What comes behind operator O; OTHERWISE if nobody has it, and somebody calls it by hand. */
static inline void *
function_of(const struct next_operator *o, void *otherwise)
{
    if (unlikely(load_relaxed(&o->function) == NULL))
        next_resolve();
    return likely(o->function != NULL) ? o->function : otherwise;
}

static inline void *
call_new(const struct next_operator *o, struct stay *s, size_t size_bytes, uintptr_t second,
         uintptr_t third)
{
    void *f = function_of(o, (void *)next.malloc);
    void *p;

    stay_begins(s);
    p = ((new_fn *)f)(size_bytes, second, third);
    s->returned = true;
    s->cut_short = tls.busy == BUSY_NO;
    return p;
}

/* The short way of a plain operator: NULL if there is none, or malloc fails, which is the C++
 * library's affair. The nested call and all that it takes to know it again are saved. */
static inline void *
plain_new(const struct next_operator *o, size_t size_bytes)
{
    return likely(load_relaxed(&o->plain)) ? next.malloc(size_bytes != 0 ? size_bytes : 1) : NULL;
}

/* As call_new for a call that the gate has let pass. */
static inline void *
pass_new(const struct next_operator *o, size_t size_bytes, uintptr_t second, uintptr_t third)
{
    void *p = plain_new(o, size_bytes);

    if (likely(p != NULL))
        return p;
    UNUSED struct charged charged __attribute__((cleanup(charged_ends))) =
        charged_begins(GATE_PASS, size_bytes);

    return ((new_fn *)function_of(o, (void *)next.malloc))(size_bytes, second, third);
}

static inline void
call_delete(const struct next_operator *o, struct stay *s, void *p, uintptr_t second,
            uintptr_t third)
{
    void *f = function_of(o, (void *)next.free);

    stay_begins(s);
    ((delete_fn *)f)(p, second, third);
    s->returned = true;
}

/* As call_delete for a block that was left out: the inner free, if there is one, sees that too. */
static inline void
pass_delete(const struct next_operator *o, void *p, uintptr_t second, uintptr_t third)
{
    ((delete_fn *)function_of(o, (void *)next.free))(p, second, third);
}

static inline void
allocated_outer(enum gate gate, void *p, size_t size_bytes, struct arch_caller caller)
{
    if (unlikely(gate == GATE_FIRST))
        gate = sample_first(size_bytes, caller.slot);
    if (likely(gate == GATE_EXACT))
        hook_alloc_outer(p, size_bytes, caller);
    else if (gate == GATE_SAMPLE)
        sample_alloc(p, size_bytes, caller);
}

#define NEXT_OF(name) (&next_operators[NEXT_##name])

#define NEW(name)                                                                                  \
    new_fn name;                                                                                   \
    static TAIL void *name##_unusual(size_t size_bytes, uintptr_t second, uintptr_t third)         \
    {                                                                                              \
        enum gate gate = sample_what(size_bytes, ARCH_SLOT());                                     \
        uint32_t busy = tls.busy;                                                                  \
        bool seen;                                                                                 \
        void *p;                                                                                   \
                                                                                                   \
        {                                                                                          \
            UNUSED struct charged charged __attribute__((cleanup(charged_ends))) =                 \
                charged_begins(gate, size_bytes);                                                  \
            STAY(stay);                                                                            \
            p = call_new(NEXT_OF(name), &stay, size_bytes, second, third);                         \
            seen = stay.cut_short && p != NULL;                                                    \
        }                                                                                          \
        if (likely(busy == BUSY_NO && !seen))                                                      \
            allocated_outer(gate, p, size_bytes, ARCH_CALLER());                                   \
        return p;                                                                                  \
    }                                                                                              \
    static TAIL void *name##_recorded(size_t size_bytes, uintptr_t second, uintptr_t third)        \
    {                                                                                              \
        void *p = likely(sample_is_plain()) ? plain_new(NEXT_OF(name), size_bytes) : NULL;         \
                                                                                                   \
        return likely(p != NULL) ? hook_alloc(p, size_bytes, ARCH_CALLER())                        \
                                 : name##_unusual(size_bytes, second, third);                      \
    }                                                                                              \
    EXPORT void *name(size_t size_bytes, uintptr_t second, uintptr_t third)                        \
    {                                                                                              \
        return sample_passes(size_bytes)                                                           \
                   ? pass_new(NEXT_OF(name), size_bytes, second, third)                            \
                   : name##_recorded(size_bytes, second, third);                                   \
    }

#define DELETE(name)                                                                               \
    delete_fn name;                                                                                \
    static TAIL void name##_unusual(void *p, uintptr_t second, uintptr_t third)                    \
    {                                                                                              \
        STAY(stay);                                                                                \
        call_delete(NEXT_OF(name), &stay, p, second, third);                                       \
    }                                                                                              \
    static TAIL void name##_recorded(void *p, uintptr_t second, uintptr_t third)                   \
    {                                                                                              \
        bool outer = likely(tls.busy == BUSY_NO);                                                  \
                                                                                                   \
        if (outer)                                                                                 \
            hook_free(p, ARCH_CALLER());                                                           \
        if (outer && likely(load_relaxed(&NEXT_OF(name)->plain)))                                  \
            next.free(p);                                                                          \
        else                                                                                       \
            name##_unusual(p, second, third);                                                      \
    }                                                                                              \
    EXPORT void name(void *p, uintptr_t second, uintptr_t third)                                   \
    {                                                                                              \
        if (p == NULL || sample_left_out(p))                                                       \
            pass_delete(NEXT_OF(name), p, second, third);                                          \
        else                                                                                       \
            name##_recorded(p, second, third);                                                     \
    }

NEW(_Znwm)
NEW(_Znam)
NEW(_ZnwmRKSt9nothrow_t)
NEW(_ZnamRKSt9nothrow_t)
NEW(_ZnwmSt11align_val_t)
NEW(_ZnamSt11align_val_t)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm)
DELETE(_ZdaPvm)
DELETE(_ZdlPvRKSt9nothrow_t)
DELETE(_ZdaPvRKSt9nothrow_t)
DELETE(_ZdlPvSt11align_val_t)
DELETE(_ZdaPvSt11align_val_t)
DELETE(_ZdlPvmSt11align_val_t)
DELETE(_ZdaPvmSt11align_val_t)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t)
