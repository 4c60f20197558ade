/* libc_dynamic.c: redirects the program's libc, whose allocator can be called without the recorder.
 *
 * The recorder exports __libc_malloc and its relatives. bypass_dynamic.c redirects all other names
 * before they can be looked up, which the program does with dlopen, dlmopen, dlsym and dlvsym. The
 * recorder intercepts these four functions only to redirect libc before their first call. Each then
 * jumps to the next definition. The jump preserves the caller's return address, because the result
 * of these functions depends on the caller. */
#include "entry/entry.h"

#include "access/counted_blocks.h"
#include "base/atomics.h"
#include "platform/arch_x86_64.h"
#include "platform/state.h"

static uint32_t taken; // Atomic: 1 after a thread has begun to redirect libc.

/* The functions that replace libc's if the real allocator is libc's. */
static const struct real_allocator own_front = {
    .malloc = own_malloc,
    .calloc = own_calloc,
    .realloc = own_realloc,
    .free = own_free,
    .posix_memalign = own_posix_memalign,
    .aligned_alloc = own_aligned_alloc,
    .memalign = own_memalign,
    .valloc = own_valloc,
    .pvalloc = own_pvalloc,
    .dlclose = bypass_dlclose,
};

/* Redirect libc once. A second thread does not wait: its lookups find libc's functions until the
 * redirection is complete. */
COLD void
libc_prepare(void)
{
    const struct real_allocator *front = bypass_front();
    uint32_t no = 0;

    if (real_libc() == NULL || !cas_acq_rel(&taken, &no, 1u))
        return;
    bypass_take(front != NULL ? front : &own_front);
}

/* Return the functions that the exported __libc_ names call. */
static inline const struct real_allocator *
own_libc(void)
{
    const struct real_allocator *front = bypass_front();

    return likely(front == NULL) ? &own_front : front;
}

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): libc's names
alloc_fn __libc_malloc, __libc_valloc, __libc_pvalloc;
calloc_fn __libc_calloc;
realloc_fn __libc_realloc;
free_fn __libc_free, cfree;
memalign_fn __libc_memalign;

EXPORT void *
__libc_malloc(size_t n)
{
    return own_libc()->malloc(n);
}

EXPORT void *
__libc_valloc(size_t n)
{
    return own_libc()->valloc(n);
}

EXPORT void *
__libc_pvalloc(size_t n)
{
    return own_libc()->pvalloc(n);
}

EXPORT void *
__libc_calloc(size_t n, size_t each)
{
    return own_libc()->calloc(n, each);
}

EXPORT void *
__libc_realloc(void *p, size_t n)
{
    return own_libc()->realloc(p, n);
}

EXPORT void
__libc_free(void *p)
{
    own_libc()->free(p);
}

EXPORT void *
__libc_memalign(size_t align, size_t n)
{
    return own_libc()->memalign(align, n);
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

/* --- The dynamic linker's functions ----------------------------------------------------------- */

#define BEFORE_DLOPEN  0
#define BEFORE_DLMOPEN 1
#define BEFORE_DLSYM   2
#define BEFORE_DLVSYM  3

void *
libc_before_lookup(uint64_t slot, uint32_t which)
{
    static void *const *const real_functions[] = {
        [BEFORE_DLOPEN] = &real.dlopen,
        [BEFORE_DLMOPEN] = &real.dlmopen,
        [BEFORE_DLSYM] = &real.dlsym,
        [BEFORE_DLVSYM] = &real.dlvsym,
    };

    real_calls_resolve();
    if (!load_relaxed(&taken))
        libc_prepare();
    if (which == BEFORE_DLMOPEN)
        tls.namespace_slot = slot;
    if (which == BEFORE_DLSYM || which == BEFORE_DLVSYM)
        access_looks_up();
    else // ARCH_JUMP_AFTER has saved the first and the second argument below SLOT.
        access_used(((const void **)slot)[which == BEFORE_DLOPEN ? -1 : -2], 1, NULL, 0);
    return *real_functions[which];
}

ARCH_JUMP_AFTER(dlopen, libc_before_lookup, BEFORE_DLOPEN);
ARCH_JUMP_AFTER(dlmopen, libc_before_lookup, BEFORE_DLMOPEN);
ARCH_JUMP_AFTER(dlsym, libc_before_lookup, BEFORE_DLSYM);
ARCH_JUMP_AFTER(dlvsym, libc_before_lookup, BEFORE_DLVSYM);
