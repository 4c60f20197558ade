/* libc_interposed.c: redirects the program's libc, whose allocator can be called without the
 * recorder.
 *
 * The recorder exports __libc_malloc and its relatives. bypass_interposed.c redirects all other
 * names before they can be looked up, which the program does with dlopen, dlmopen, dlsym and
 * dlvsym. The recorder intercepts these four functions to redirect libc before their first call. It
 * intercepts the first two also because the dynamic linker's calls of calloc show the progress of a
 * loading (bypass_look). Each then jumps to the next definition, so that the latter sees its true
 * caller, on which its result depends. A dlopen that the program has found in libc jumps to libc's
 * own, as the next definition may have found it too. */
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

void libc_dlopen(void), libc_dlmopen(void); // Only addresses: their signatures are libc's.

/* Redirect libc once. A second thread does not wait: its lookups find libc's functions until the
 * redirection is complete. */
COLD void
libc_prepare(void)
{
    const struct real_allocator *known = bypass_front();
    struct real_allocator front = known != NULL ? *known : own_front;
    uint32_t no = 0;

    if (real_libc() == NULL || !cas_acq_rel(&taken, &no, 1u))
        return;
    front.dlopen = (void *)libc_dlopen;
    front.dlmopen = (void *)libc_dlmopen;
    bypass_take(&front);
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
// The same functions of the program's libc, which a lookup there has found.
#define BEFORE_LIBC_DLOPEN  4
#define BEFORE_LIBC_DLMOPEN 5

void *
libc_before_lookup(uint64_t slot, uint32_t which)
{
    real_calls_resolve();
    if (!load_relaxed(&taken))
        libc_prepare();
    // ARCH_JUMP_AFTER has saved the first and the second argument below SLOT.
    switch (which) {
    case BEFORE_DLOPEN:
    case BEFORE_LIBC_DLOPEN:
        tls.loading_slot = slot;
        tls.loading_namespace = 0;
        access_used(((const void **)slot)[-1], 1, NULL, 0);
        return which == BEFORE_DLOPEN ? real.dlopen : bypass_libc()->dlopen;
    case BEFORE_DLMOPEN:
    case BEFORE_LIBC_DLMOPEN:
        tls.loading_slot = slot;
        tls.loading_namespace = 1;
        access_used(((const void **)slot)[-2], 1, NULL, 0);
        return which == BEFORE_DLMOPEN ? real.dlmopen : bypass_libc()->dlmopen;
    default:
        access_looks_up();
        return which == BEFORE_DLSYM ? real.dlsym : real.dlvsym;
    }
}

ARCH_JUMP_AFTER(dlopen, libc_before_lookup, BEFORE_DLOPEN);
ARCH_JUMP_AFTER(dlmopen, libc_before_lookup, BEFORE_DLMOPEN);
ARCH_JUMP_AFTER(dlsym, libc_before_lookup, BEFORE_DLSYM);
ARCH_JUMP_AFTER(dlvsym, libc_before_lookup, BEFORE_DLVSYM);
__asm__(".hidden libc_dlopen\n\t.hidden libc_dlmopen");
ARCH_JUMP_AFTER(libc_dlopen, libc_before_lookup, BEFORE_LIBC_DLOPEN);
ARCH_JUMP_AFTER(libc_dlmopen, libc_before_lookup, BEFORE_LIBC_DLMOPEN);
