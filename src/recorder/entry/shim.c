/* shim.c: implements the intercepted functions.
 *
 * Each function calls the next definition in link order and reports to the recorder (event.h). This
 * file decides only the order. A block enters the ledger after the allocator has returned it. It
 * leaves the ledger before the allocator gets it back, because another thread may own the address
 * from then on.
 *
 * Calls that the gate lets pass (gate.h), and frees of their blocks, only call the next function.
 * All other calls are recorded.
 *
 * malloc and free begin the fast path (event.c). Each checks a sequence of conditions. If a
 * condition fails, an out-of-line function takes over.
 *
 * Some functions of the allocator or of libstdc++, such as operator new, may call the intercepted
 * functions. They are called in state REENTRY_IN_REAL. Their result is recorded once, under their
 * caller; their other requests are recorded like any others (event/reentry.c). If operator new
 * throws an exception (bad_alloc, or a new handler's), the cleanup of the re-entry guard restores
 * the state.
 *
 * malloc_usable_size only calls the next definition. It has no event, but a program that finds the
 * recorder's malloc must also find the malloc_usable_size that belongs to it. */
#include "entry/entry.h"

#include <errno.h>
#include <stdlib.h>

#include "access/counted_blocks.h"
#include "base/atomics.h"
#include "entry/recorded.h"
#include "event/event.h"
#include "event/fast_path.h"
#include "event/gate.h"
#include "event/reentry.h"
#include "event/sampled.h"
#include "event/start.h"
#include "platform/process.h"
#include "platform/unrecorded.h"

/* Attribute of an out-of-line function for rare cases, which keeps its cost away from the fast
 * path. It is called in tail position, so it replaces the calling function on the stack and has the
 * same caller. */
#ifdef BASE_STACK_UNCHECKED
#define TAIL INLINE // The test harness is built without out-of-line tail calls.
#else
#define TAIL NOINLINE
#endif

static TAIL void *
malloc_slow(size_t size_bytes)
{
    enum gate gate = gate_what(size_bytes, ARCH_SLOT());
    void *p;

    if (unlikely(load_relaxed(&unrecorded_has_malloc_call) == 0))
        unrecorded_malloc_called();
    if (gate == GATE_PASS)
        return real.malloc(size_bytes);
    REENTRY_CALL(call);
    reentry_begin(&call, ARCH_CALLER());
    p = real.malloc(size_bytes);
    AGAIN(p, size_bytes, real.malloc(size_bytes));
    allocated(&call, gate, p, size_bytes, ARCH_CALLER());
    return p;
}

static TAIL void *
malloc_gated(size_t size_bytes)
{
    return gate_passes(size_bytes) ? real.malloc(size_bytes) : malloc_slow(size_bytes);
}

/* Repeat a failed real malloc if the recorder has unmapped memory. */
static TAIL void *
malloc_again(size_t size_bytes)
{
    void *p = limit_gives_back(size_bytes) ? real.malloc(size_bytes) : NULL;

    return event_alloc(p, size_bytes, ARCH_CALLER());
}

EXPORT void *
malloc(size_t size_bytes)
{
    void *p;

    if (unlikely(tls.busy != REENTRY_IDLE) || unlikely(!tls.exact)) // Test as gate_is_plain does.
        return malloc_gated(size_bytes);
    p = real.malloc(size_bytes);
    if (unlikely(p == NULL))
        return malloc_again(size_bytes);
    // Read the caller after the call, so that no register must hold it during the call.
    return event_alloc(p, size_bytes, ARCH_CALLER());
}

static TAIL void *
calloc_slow(size_t count, size_t each_bytes)
{
    enum gate gate = gate_what(count * each_bytes, ARCH_SLOT());
    void *p;

    if (gate == GATE_PASS)
        return real.calloc(count, each_bytes);
    REENTRY_CALL(call);
    reentry_begin(&call, ARCH_CALLER());
    p = real.calloc(count, each_bytes);
    AGAIN(p, count * each_bytes, real.calloc(count, each_bytes));
    allocated(&call, gate, p, count * each_bytes, ARCH_CALLER());
    return p;
}

static TAIL void *
calloc_again(size_t count, size_t each_bytes)
{
    void *p = limit_gives_back(count * each_bytes) ? real.calloc(count, each_bytes) : NULL;

    return event_alloc(p, count * each_bytes, ARCH_CALLER());
}

static TAIL void *
calloc_plain(size_t count, size_t each_bytes)
{
    void *p = real.calloc(count, each_bytes);

    if (unlikely(p == NULL))
        return calloc_again(count, each_bytes);
    return event_alloc(p, count * each_bytes, ARCH_CALLER());
}

static TAIL void *
calloc_gated(size_t count, size_t each_bytes)
{
    return gate_passes(count * each_bytes) ? real.calloc(count, each_bytes)
                                           : calloc_slow(count, each_bytes);
}

EXPORT void *
calloc(size_t count, size_t each_bytes)
{
    if (unlikely(tls.loading_slot != 0))
        bypass_look(ARCH_SLOT());
    return likely(gate_is_plain()) ? calloc_plain(count, each_bytes)
                                   : calloc_gated(count, each_bytes);
}

static TAIL void
free_nested(void *p)
{
    REENTRY_CALL(call);
    reentry_begin(&call, ARCH_CALLER());

    freed(&call, p, ARCH_CALLER());
    real.free(p);
}

/* Record a free in an event that has begun, for any state of the thread and any block. */
static TAIL void
free_slow(void *p)
{
    if (!event_free_called(p))
        event_free(p, ARCH_CALLER());
    REENTRY_CALL(call);
    reentry_begin(&call, ARCH_CALLER());
    real.free(p);
}

static TAIL void
free_unprepared(void *p, struct ledger_place at, struct disk_counter *c)
{
    event_free_unprepared(p, at, c);
    real.free(p);
}

static TAIL void
free_and_flush(void *p)
{
    event_flush();
    real.free(p);
}

/* Three conditions must hold. The thread has joined, has no pending changes to read, and does not
 * tick with this event, as in fast_path_is_open_to_frees. P is a direct block, whose site has a
 * counter of this thread. The counter has no values to save for the present epoch (peak.h). */
static TAIL void
free_recorded(void *p)
{
    struct thread *t;
    struct ledger_direct d;
    struct disk_block *b;
    struct disk_counter *c;

    if (unlikely(tls.busy != REENTRY_IDLE)) {
        free_nested(p);
        return;
    }
    reentry_enter(ARCH_SLOT());
    t = tls.self;
    if (unlikely(t == NULL) || unlikely((load_relaxed(&t->ready) & THREAD_FREES) == 0) ||
        unlikely(t->countdown == 1) ||
        unlikely((d = ledger_direct_live(t->ledger, t->direct_units, p)).at.leaf == NULL) ||
        unlikely((b = t->blocks[(d.entry & LEDGER_PACKED_SITE_MASK) / DISK_BLOCK_SITES]) == NULL)) {
        free_slow(p);
        return;
    }
    c = &b->counters[(d.entry & LEDGER_PACKED_SITE_MASK) % DISK_BLOCK_SITES];
    KEEP(c);
    if (unlikely(c->peak_epoch != load_relaxed(&t->shared->epoch))) {
        free_unprepared(p, d.at, c);
        return;
    }
    if (unlikely(!fast_path_free(t, p, d.at, c))) {
        free_and_flush(p);
        return;
    }
    real.free(p);
}

static TAIL void
free_chosen(void *p)
{
    if (gate_has_left_out(p))
        real.free(p);
    else
        free_recorded(p);
}

EXPORT void
free(void *p)
{
    if (p == NULL)
        return;
    if (likely(load_relaxed(&sample.mode) == DISK_MODE_EXACT))
        free_recorded(p);
    else
        free_chosen(p);
}

/* The C23 functions with a size. Do not pass the size on: the real allocator may not have these
 * functions. */
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

static TAIL void *
realloc_slow(void *p, size_t size_bytes, enum gate gate)
{
    struct realloc_arguments a = {real.realloc, p, size_bytes};
    REENTRY_CALL(call);
    reentry_begin(&call, ARCH_CALLER());

    return realloc_in(&call, gate, p, size_bytes, realloc_by, &a);
}

static TAIL void *
realloc_passed(void *p, size_t size_bytes)
{
    return p == NULL || gate_leaves_out(p) ? real.realloc(p, size_bytes)
                                           : realloc_slow(p, size_bytes, GATE_PASS);
}

static TAIL void *
realloc_gated(void *p, size_t size_bytes)
{
    enum gate gate = gate_of(size_bytes, ARCH_SLOT());

    return gate == GATE_PASS ? realloc_passed(p, size_bytes)
                             : realloc_slow(p, size_bytes, gate);
}

/* Handle realloc of NULL, which allocates a new block like malloc. */
static TAIL void *
realloc_anew(size_t size_bytes)
{
    void *p = real.realloc(NULL, size_bytes);

    AGAIN(p, size_bytes, real.realloc(NULL, size_bytes));
    return event_alloc(p, size_bytes, ARCH_CALLER());
}

static TAIL void *
realloc_plain(void *p, size_t size_bytes)
{
    struct realloc_arguments a = {real.realloc, p, size_bytes};

    if (p == NULL)
        return realloc_anew(size_bytes);
    REENTRY_CALL(call) = reentry_guard(REENTRY_RECORDED, ARCH_CALLER());
    return realloc_recorded(&call, GATE_EXACT, p, size_bytes, realloc_by, &a);
}

EXPORT void *
realloc(void *p, size_t size_bytes)
{
    return likely(gate_is_plain()) ? realloc_plain(p, size_bytes) : realloc_gated(p, size_bytes);
}

EXPORT int
posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    enum gate gate = gate_of(size_bytes, ARCH_SLOT());
    int error;

    if (gate == GATE_PASS) {
        error = real.posix_memalign(ret_p, align, size_bytes);
        access_used(NULL, 0, error == 0 ? ret_p : NULL, sizeof *ret_p);
        return error;
    }
    REENTRY_CALL(call);
    reentry_begin(&call, ARCH_CALLER());
    error = real.posix_memalign(ret_p, align, size_bytes);
    if (unlikely(error == ENOMEM) && limit_gives_back(size_bytes))
        error = real.posix_memalign(ret_p, align, size_bytes);
    allocated(&call, gate, error ? NULL : *ret_p, size_bytes, ARCH_CALLER());
    access_used(NULL, 0, error == 0 ? ret_p : NULL, sizeof *ret_p);
    return error;
}

#define ALIGNED(name)                                                                              \
    EXPORT void *name(size_t align, size_t size_bytes)                                             \
    {                                                                                              \
        enum gate gate = gate_of(size_bytes, ARCH_SLOT());                                     \
        void *p;                                                                                   \
                                                                                                   \
        if (gate == GATE_PASS)                                                                     \
            return real.name(align, size_bytes);                                                   \
        REENTRY_CALL(call);                                                                        \
        reentry_begin(&call, ARCH_CALLER());                                                       \
        p = real.name(align, size_bytes);                                                          \
        AGAIN(p, size_bytes, real.name(align, size_bytes));                                        \
        allocated(&call, gate, p, size_bytes, ARCH_CALLER());                                   \
        return p;                                                                                  \
    }

#define PAGED(name)                                                                                \
    void *name(size_t size_bytes);                                                                 \
    EXPORT void *name(size_t size_bytes)                                                           \
    {                                                                                              \
        enum gate gate = gate_of(size_bytes, ARCH_SLOT());                                     \
        void *p;                                                                                   \
                                                                                                   \
        if (gate == GATE_PASS)                                                                     \
            return real.name(size_bytes);                                                          \
        REENTRY_CALL(call);                                                                        \
        reentry_begin(&call, ARCH_CALLER());                                                       \
        p = real.name(size_bytes);                                                                 \
        AGAIN(p, size_bytes, real.name(size_bytes));                                               \
        allocated(&call, gate, p, size_bytes, ARCH_CALLER());                                   \
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
    return real.malloc_usable_size(p);
}

pid_t fork(void);
pid_t _Fork(void);

static pid_t
fork_by(fork_fn *fork_function)
{
    bool interrupted = reentry_is_in_recorder();
    pid_t pid = unlikely(interrupted) ? fork_child_fork(fork_function) : fork_function();

    if (pid == 0) {
        identity_own();
        if (!interrupted)
            join_forked();
    }
    return pid;
}

EXPORT pid_t
fork(void)
{
    return fork_by(real.fork);
}

EXPORT pid_t
_Fork(void)
{
    return fork_by(real.async_fork);
}

struct reallocarray_arguments {
    void *p;
    size_t count, each_bytes, size_bytes;
    enum gate gate;
};

static INLINE void *
reallocarray_once(struct reentry_call *c, const struct reallocarray_arguments *a)
{
    void *q;

    // glibc's reallocarray, at least, calls realloc by a name that leads to the recorder.
    charge(c, a->gate, a->size_bytes);
    reentry_real_begin(c);
    q = real.reallocarray(a->p, a->count, a->each_bytes);
    reentry_real_end(c, q);
    return q;
}

static void *
reallocarray_by(struct reentry_call *c, void *arguments)
{
    const struct reallocarray_arguments *a = arguments;
    void *q = reallocarray_once(c, a);

    AGAIN(q, a->size_bytes, reallocarray_once(c, a));
    return q;
}

EXPORT void *
reallocarray(void *p, size_t count, size_t each_bytes)
{
    size_t size_bytes = count * each_bytes;
    struct reallocarray_arguments a = {p, count, each_bytes, product(count, each_bytes),
                                       gate_of(size_bytes, ARCH_SLOT())};
    REENTRY_CALL(call);
    reentry_begin(&call, ARCH_CALLER());

    if (unlikely(call.kind != REENTRY_RECORDED))
        return real.reallocarray(p, count, each_bytes);
    return realloc_in(&call, a.gate, p, a.size_bytes, reallocarray_by, &a);
}

/* The C++ operators, by their mangled names. Their parameters are at most three words, all passed
 * in registers, so one function type suffices for all forms: a form ignores parameters that it
 * lacks. */
typedef void *new_fn(size_t size_bytes, uintptr_t second, uintptr_t third);
typedef void delete_fn(void *p, uintptr_t second, uintptr_t third);

/* Return the next definition of operator O. If there is none and the program calls the operator
 * directly, return OTHERWISE. */
static inline void *
shim_function_of(const struct real_cxx_operator *o, void *otherwise)
{
    if (unlikely(load_relaxed(&o->function) == NULL))
        real_calls_resolve();
    return likely(o->function != NULL) ? o->function : otherwise;
}

static inline void *
call_new(const struct real_cxx_operator *o, struct reentry_call *c, enum gate gate,
         size_t size_bytes, uintptr_t second, uintptr_t third)
{
    void *f = shim_function_of(o, (void *)real.malloc);
    void *p;

    charge(c, gate, size_bytes);
    reentry_real_begin(c);
    p = ((new_fn *)f)(size_bytes, second, third);
    reentry_real_end(c, p);
    return p;
}

/* Fast path of a plain operator: call malloc directly, without a guard. Return NULL if the operator
 * is not plain, or if malloc fails; then the C++ library must handle the failure. */
static inline void *
plain_new(const struct real_cxx_operator *o, size_t size_bytes)
{
    return likely(load_relaxed(&o->plain)) ? real.malloc(size_bytes != 0 ? size_bytes : 1) : NULL;
}

/* Like call_new, for a call that the gate has let pass. */
static TAIL void *
pass_new(size_t size_bytes, uintptr_t second, uintptr_t third, const struct real_cxx_operator *o)
{
    void *p = plain_new(o, size_bytes);

    if (likely(p != NULL))
        return p;
    REENTRY_CALL(call) =
        reentry_guard(REENTRY_NO_EVENT, (struct arch_caller){.slot = ARCH_SLOT()});

    reentry_save_credit(&call, size_bytes);
    p = ((new_fn *)shim_function_of(o, (void *)real.malloc))(size_bytes, second, third);
    reentry_return_credit(&call);
    return p;
}

static inline void
call_delete(const struct real_cxx_operator *o, struct reentry_call *c, void *p, uintptr_t second,
            uintptr_t third)
{
    void *f = shim_function_of(o, (void *)real.free);

    reentry_real_begin(c);
    ((delete_fn *)f)(p, second, third);
    reentry_real_end(c, NULL);
}

/* Like call_delete, for an unrecorded block. If the operator calls free, the gate lets that call
 * pass as well. */
static TAIL void
pass_delete(void *p, uintptr_t second, uintptr_t third, const struct real_cxx_operator *o)
{
    ((delete_fn *)shim_function_of(o, (void *)real.free))(p, second, third);
}

#define REAL_OF(name) (&real_cxx_operators[REAL_##name])

#define NEW(name)                                                                                  \
    new_fn name;                                                                                   \
    static TAIL void *name##_slow(size_t size_bytes, uintptr_t second, uintptr_t third)            \
    {                                                                                              \
        enum gate gate = gate_what(size_bytes, ARCH_SLOT());                                       \
        REENTRY_CALL(call);                                                                        \
        reentry_begin(&call, ARCH_CALLER());                                                       \
        void *p = call_new(REAL_OF(name), &call, gate, size_bytes, second, third);                 \
                                                                                                   \
        if (likely(call.kind == REENTRY_RECORDED))                                                 \
            allocated_outer(gate, p, size_bytes, ARCH_CALLER());                                   \
        return p;                                                                                  \
    }                                                                                              \
    static TAIL void *name##_plain(size_t size_bytes, uintptr_t second, uintptr_t third)           \
    {                                                                                              \
        void *p = plain_new(REAL_OF(name), size_bytes);                                            \
                                                                                                   \
        return likely(p != NULL) ? event_alloc(p, size_bytes, ARCH_CALLER())                       \
                                 : name##_slow(size_bytes, second, third);                         \
    }                                                                                              \
    static TAIL void *name##_gated(size_t size_bytes, uintptr_t second, uintptr_t third)           \
    {                                                                                              \
        return gate_passes(size_bytes) ? pass_new(size_bytes, second, third, REAL_OF(name))        \
                                       : name##_slow(size_bytes, second, third);                   \
    }                                                                                              \
    EXPORT void *name(size_t size_bytes, uintptr_t second, uintptr_t third)                        \
    {                                                                                              \
        return likely(gate_is_plain()) ? name##_plain(size_bytes, second, third)                   \
                                       : name##_gated(size_bytes, second, third);                  \
    }

#define DELETE(name)                                                                               \
    delete_fn name;                                                                                \
    static TAIL void name##_slow(void *p, uintptr_t second, uintptr_t third)                       \
    {                                                                                              \
        REENTRY_CALL(call);                                                                        \
        reentry_begin(&call, ARCH_CALLER());                                                       \
                                                                                                   \
        if (likely(call.kind == REENTRY_RECORDED))                                                 \
            event_free(p, ARCH_CALLER());                                                          \
        call_delete(REAL_OF(name), &call, p, second, third);                                       \
    }                                                                                              \
    static TAIL void name##_recorded(void *p, uintptr_t second, uintptr_t third)                   \
    {                                                                                              \
        if (reentry_is_idle() && likely(load_relaxed(&REAL_OF(name)->plain)))            \
            free_recorded(p);                                                                      \
        else                                                                                       \
            name##_slow(p, second, third);                                                         \
    }                                                                                              \
    static TAIL void name##_chosen(void *p, uintptr_t second, uintptr_t third)                     \
    {                                                                                              \
        if (p == NULL || gate_leaves_out(p))                                                       \
            pass_delete(p, second, third, REAL_OF(name));                                          \
        else                                                                                       \
            name##_recorded(p, second, third);                                                     \
    }                                                                                              \
    EXPORT void name(void *p, uintptr_t second, uintptr_t third)                                   \
    {                                                                                              \
        if (p != NULL && gate_leaves_nothing_out())                                                \
            name##_recorded(p, second, third);                                                     \
        else                                                                                       \
            name##_chosen(p, second, third);                                                       \
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

/* The same functions under private names, which reach them even if the exported names resolve to
 * others (entry.h). The alias attribute is not used: with it, the compiler would apply the
 * attributes of libc's headers to these names. */
#define OWN(name)                                                                                  \
    __asm__(".globl own_" #name "\n\t.hidden own_" #name "\n\t.set own_" #name ", " #name);

OWN(malloc)
OWN(calloc)
OWN(realloc)
OWN(free)
OWN(posix_memalign)
OWN(aligned_alloc)
OWN(memalign)
OWN(valloc)
OWN(pvalloc)
