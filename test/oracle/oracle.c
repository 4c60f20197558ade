/* oracle.c: a second recorder, slow and obviously right, which records the same run as heaptap.
 *
 *     LD_PRELOAD="libheaptap.so liboracle.so libgcc_s.so.1 libunwind.so.8" ORACLE_OUT=o.%p PROGRAM
 *
 * The program's malloc is heaptap's; heaptap's real malloc is the oracle's; the oracle's real
 * malloc is the allocator's. So both see the same calls in the same process, and tool_compare can
 * require equal numbers for every stack, to the byte. heaptap's memory comes from mmap, so every
 * call that the oracle sees is the program's.
 *
 * The functions below record each event (oracle_book.c) with the caller's stack (oracle_stack.c).
 * An allocation is recorded after the allocator's call, and a free before it, because in between no
 * other block can have the address. Signals are blocked while an event is recorded, so that events
 * of a handler are never nested in another event.
 *
 * Operators. libstdc++'s operator new calls malloc with another size than requested (1 for 0, a
 * multiple of the alignment), and other allocators' operators do not call malloc. So all forms are
 * intercepted. If malloc is called below an operator, as its stack shows, the block waits until the
 * thread's next event. If that event is the operator's return with the same block, the two calls
 * are one allocation, the operator's. Otherwise, the block counts by itself, for example an
 * exception. A counter of the thread identifies the free that an operator delete makes, since a
 * delete does not throw.
 *
 * reallocarray is implemented here by realloc, since the C library's would call heaptap's
 * realloc. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "oracle_book.h"

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
    int (*dlclose)(void *);
} next;

static bool usable_is_next; // True if malloc_usable_size and malloc belong to one allocator.
// True while recording an event.
static __thread int inside __attribute__((tls_model("initial-exec")));
// True in an operator delete.
static __thread int deleting __attribute__((tls_model("initial-exec")));

static void *
oracle_find(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);

    if (f == NULL)
        oracle_die("the next allocator lacks a function");
    return f;
}

static bool
oracle_same_object(void *a, void *b)
{
    struct dl_find_object of_a, of_b;

    return _dl_find_object(a, &of_a) == 0 && _dl_find_object(b, &of_b) == 0 &&
           of_a.dlfo_link_map == of_b.dlfo_link_map;
}

/* Resolve all functions. The first call does this, long before there is a second thread. dlsym does
 * not allocate when it succeeds. */
static void
oracle_start(void)
{
    static bool started;

    if (started)
        return;
    started = true;
    next.calloc = oracle_find("calloc");
    next.realloc = oracle_find("realloc");
    next.free = oracle_find("free");
    next.posix_memalign = oracle_find("posix_memalign");
    next.aligned_alloc = oracle_find("aligned_alloc");
    next.memalign = oracle_find("memalign");
    next.valloc = oracle_find("valloc");
    next.pvalloc = oracle_find("pvalloc");
    next.malloc_usable_size = oracle_find("malloc_usable_size");
    next.dlclose = oracle_find("dlclose");
    next.malloc = oracle_find("malloc");
    usable_is_next = oracle_same_object((void *)next.malloc, (void *)next.malloc_usable_size);
    book_open();
}

/* A block allocated below an operator that has not returned yet; p NULL = none. */
struct waiting {
    void *p;
    size_t size_bytes;
    struct oracle_stack stack;
};

static __thread struct waiting waiting __attribute__((tls_model("initial-exec")));

struct event {
    struct oracle_stack stack;
    uint32_t operators; // Number of operator frames on the stack.
    sigset_t mask; // The thread's signal mask.
    int saved_errno;
};

static void
set_mask(const sigset_t *set, sigset_t *ret_old)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, set, ret_old, _NSIG / 8);
}

/* Begin to record an event. Return false if this call is not an event to record. If STACK, capture
 * the stack. */
static __attribute__((noinline)) bool
oracle_event_begins(struct event *e, bool with_stack)
{
    sigset_t all;

    if (!book_is_open())
        return false;
    if (inside) {
        book_inside_call();
        return false;
    }
    e->saved_errno = errno;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGABRT);
    sigdelset(&all, SIGTRAP);
    set_mask(&all, &e->mask);
    inside = 1;
    e->stack.words = with_stack ? book_borrow_words() : NULL;
    e->operators = with_stack ? stack_take(&e->stack) : 0;
    return true;
}

static void
oracle_event_ends(struct event *e)
{
    if (e->stack.words != NULL)
        book_return_words(e->stack.words);
    inside = 0;
    set_mask(&e->mask, NULL);
    errno = e->saved_errno;
}

/* Count the waiting block by itself, because the thread's next event is not its return, unless P is
 * that block. NULL matches no block. */
static void
end_waiting(const void *p)
{
    struct waiting w = waiting;

    if (w.p == NULL)
        return;
    waiting.p = NULL;
    if (w.p != p)
        book_alloc(w.p, w.size_bytes, &w.stack);
    book_return_words(w.stack.words);
}

/* Record that P was allocated, by a function that adds OWN_OPERATORS operator frames to the
 * stack. */
static __attribute__((noinline)) void
note_block(void *p, size_t size_bytes, uint32_t own_operators)
{
    struct event e;

    if (!oracle_event_begins(&e, true))
        return;
    if (p == NULL) {
        book_failed_call();
    } else {
        end_waiting(p);
        if (e.operators > own_operators) {
            waiting = (struct waiting){p, size_bytes, e.stack};
            e.stack.words = NULL;
        } else {
            book_alloc(p, size_bytes, &e.stack);
        }
    }
    oracle_event_ends(&e);
}

static void
note_alloc(void *p, size_t size_bytes)
{
    note_block(p, size_bytes, 0);
}

static __attribute__((noinline)) void
note_free(const void *p)
{
    struct event e;

    if (p == NULL || deleting || !oracle_event_begins(&e, false))
        return;
    end_waiting(NULL);
    book_free(p);
    oracle_event_ends(&e);
}

void *
malloc(size_t size_bytes)
{
    void *p;

    oracle_start();
    p = next.malloc(size_bytes);
    note_alloc(p, size_bytes);
    return p;
}

void *
calloc(size_t count, size_t each_bytes)
{
    void *p;

    oracle_start();
    p = next.calloc(count, each_bytes);
    note_alloc(p, count * each_bytes);
    return p;
}

void
free(void *p)
{
    oracle_start();
    note_free(p);
    next.free(p);
}

void *
realloc(void *p, size_t size_bytes)
{
    struct oracle_block old = {0};
    struct event e;
    void *q;

    oracle_start();
    if (p != NULL && oracle_event_begins(&e, false)) {
        end_waiting(NULL);
        old = book_take(p);
        oracle_event_ends(&e);
    }
    q = next.realloc(p, size_bytes);
    if (p == NULL) {
        note_alloc(q, size_bytes);
    } else if (oracle_event_begins(&e, true)) {
        if (q != NULL || size_bytes == 0) {
            book_realloc(old, q, size_bytes, &e.stack);
        } else {
            book_failed_call();
            book_put_back(old);
        }
        oracle_event_ends(&e);
    }
    return q;
}

void *
reallocarray(void *p, size_t count, size_t each_bytes)
{
    size_t size_bytes;

    if (!__builtin_mul_overflow(count, each_bytes, &size_bytes))
        return realloc(p, size_bytes);
    oracle_start();
    note_alloc(NULL, 0);
    errno = ENOMEM;
    return NULL;
}

int
posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    int error;

    oracle_start();
    error = next.posix_memalign(ret_p, align, size_bytes);
    note_alloc(error ? NULL : *ret_p, size_bytes);
    return error;
}

void *
aligned_alloc(size_t align, size_t size_bytes)
{
    void *p;

    oracle_start();
    p = next.aligned_alloc(align, size_bytes);
    note_alloc(p, size_bytes);
    return p;
}

void *
memalign(size_t align, size_t size_bytes)
{
    void *p;

    oracle_start();
    p = next.memalign(align, size_bytes);
    note_alloc(p, size_bytes);
    return p;
}

void *
valloc(size_t size_bytes)
{
    void *p;

    oracle_start();
    p = next.valloc(size_bytes);
    note_alloc(p, size_bytes);
    return p;
}

void *
pvalloc(size_t size_bytes)
{
    void *p;

    oracle_start();
    p = next.pvalloc(size_bytes);
    note_alloc(p, size_bytes);
    return p;
}

/* heaptap expects this function beside malloc, as in most allocators. The next definition may
 * belong to another allocator than the next malloc. */
size_t
malloc_usable_size(void *p)
{
    struct event e;
    size_t size_bytes = 0;

    oracle_start();
    if (usable_is_next)
        return next.malloc_usable_size(p);
    if (oracle_event_begins(&e, false)) {
        size_bytes = book_size(p);
        oracle_event_ends(&e);
    }
    return size_bytes;
}

int
dlclose(void *handle)
{
    int result;

    oracle_start();
    result = next.dlclose(handle);
    stack_invalidate();
    return result;
}

/* Return the next definition of an operator: the one after this library or, if the C++ library was
 * loaded for one object alone, the one that this object sees. */
static void *
find_operator(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);
    void *object = f == NULL && book_is_open() ? stack_caller_object() : NULL;

    if (f == NULL && object != NULL)
        f = dlsym(object, name);
    if (f == NULL)
        oracle_die("an operator new or delete without a C++ library");
    return f;
}

/* One type for all forms, whose arguments are at most three words in registers. */
typedef void *new_fn(size_t, uintptr_t, uintptr_t);
typedef void delete_fn(void *, uintptr_t, uintptr_t);

#define NEW(name)                                                         \
    new_fn name;                                                          \
    ORACLE_OPERATOR void *name(size_t n, uintptr_t b, uintptr_t c)        \
    {                                                                     \
        static new_fn *f;                                                 \
        void *p;                                                          \
                                                                          \
        oracle_start();                                                   \
        if (f == NULL)                                                    \
            f = (new_fn *)find_operator(#name);                           \
        p = f(n, b, c);                                                   \
        note_block(p, n, 1);                                              \
        return p;                                                         \
    }

#define DELETE(name)                                                      \
    delete_fn name;                                                       \
    void name(void *p, uintptr_t b, uintptr_t c)                          \
    {                                                                     \
        static delete_fn *f;                                              \
                                                                          \
        oracle_start();                                                   \
        if (f == NULL)                                                    \
            f = (delete_fn *)find_operator(#name);                        \
        note_free(p);                                                     \
        deleting++;                                                       \
        f(p, b, c);                                                       \
        deleting--;                                                       \
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
