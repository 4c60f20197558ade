/* entry.h: declares the functions that the files of entry/ call from one another. */
#ifndef ENTRY_ENTRY_H
#define ENTRY_ENTRY_H

#include "allocator/real.h"
#include "base/base.h"
#include "base/hook_slot.h"

/* --- announce.c: connects the program to the recorder. */

/* Fill in the executable's pointer to heaptap_recorder_v1, if the executable has such a pointer and
 * it is 0. Does not start recording. May be called at any time. */
void announce_recorder(void);

/* --- guarded_next.c: guards calls of a real allocator whose functions call one another. */

/* N is an allocator that may call its own functions by name. Replace the functions in N by guarded
 * functions, whose inner calls are not events. N must not contain the replacements already. */
void guarded_next_in_front(struct real_allocator *n);

/* --- unload.c: intercepts dlclose, which may invalidate data about an object. */

/* Close HANDLE by calling CLOSE, and drop data about unloaded objects. SLOT is the address of the
 * call's return address. */
int unload(dlclose_fn *close, void *handle, uint64_t slot);

/* --- shim.c: private names for the intercepted functions of shim.c. They reach these functions
 * even if the exported names resolve to others. */

alloc_fn own_malloc, own_valloc, own_pvalloc;
calloc_fn own_calloc;
realloc_fn own_realloc;
free_fn own_free;
posix_memalign_fn own_posix_memalign;
memalign_fn own_aligned_alloc, own_memalign;

/* --- libc: redirects the program's libc, whose allocator can be called without the recorder. See
 * libc_interposed.c. */

/* Redirect libc. Call before the program's first lookup. */
void libc_prepare(void);

/* Prepare for a call from SLOT to the dynamic linker's function number WHICH. Return the function
 * to jump to. */
void *libc_before_lookup(uint64_t slot, uint32_t which);

/* --- real_calls: the functions that the recorder calls. They are the next definitions in link
 * order, or their replacements. */

/* The real functions. No member is NULL, except addresses to jump to. Before real_calls_resolve has
 * run, each function first runs it and then continues. If the program lacks a function, the member
 * for it fails. */
extern struct real_allocator real __attribute__((visibility("hidden")));

/* Resolve all functions. Has no effect when called again. Async-signal-safe; threads may run it
 * concurrently. */
void real_calls_resolve(void);

/* Complete the work of the replacements. Call when the program ends. */
void real_calls_end(void);

/* --- hook_names: the hooked names and their definitions. See hook_names_interposed.c. */

/* Type of an entry in the recorder's table for stubs. The function gets the hooked function's
 * arguments unchanged, and the stub's slot. */
typedef uintptr_t hook_entry_fn(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                                uintptr_t e, struct hook_slot *slot);

/* Return the next function with the name of SLOT, or NULL if there is none. Async-signal-safe. */
void *hook_names_find(const struct hook_slot *slot);

/* Drop cached functions that may have been unloaded. The next call looks them up again. */
void hook_names_invalidate(void);

/* Table entry HOOK_BEGIN. The library of stubs calls it before all other entries. A is the address
 * of the first stub, B the number of stubs, SLOT the first of B slots. */
hook_entry_fn hook_names_begin;

/* Table entry HOOK_BIND. The dynamic linker calls it to bind a reference to the name of SLOT.
 * Return the address to bind. Async-signal-safe. */
hook_entry_fn hook_names_bind;

/* --- bypass: intercepts calls of libc's own allocator that do not follow link order. See
 * bypass_interposed.c. */

/* Return the replacements of the allocator functions of the program's libc. Return NULL if the real
 * allocator is libc's, or if libc is unknown. */
const struct real_allocator *bypass_front(void);

/* Call dlclose of the program's libc, which must be known. The next dlclose in link order is
 * unsuitable: it may belong to an object that looks up libc's dlclose and finds the recorder's. */
dlclose_fn bypass_dlclose;

/* Return the functions of the program's libc, which must be known. */
const struct real_allocator *bypass_libc(void);

/* Redirect lookups of allocator functions in the program's libc to FRONT, except for members that
 * are NULL. Call once, when libc is known. A failure is counted as a loss. */
void bypass_take(const struct real_allocator *front);

/* Examine a call of calloc from SLOT during dlopen or dlmopen, because it may come from the dynamic
 * linker. */
void bypass_look(uint64_t slot);

#endif
