/* hook_names.h: the hooked names and their definitions. See hook_names_dynamic.c. */
#ifndef ENTRY_HOOK_NAMES_H
#define ENTRY_HOOK_NAMES_H

#include "base/hook_slot.h"

/* An entry of the recorder's table for stubs. Gets the hooked function's arguments unchanged, and
 * the stub's slot. */
typedef uintptr_t hook_entry_fn(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                                uintptr_t e, struct hook_slot *slot);

/* Return the next function with the name of SLOT; NULL if there is none. Async-signal-safe. */
void *hook_names_find(const struct hook_slot *slot);

/* Drop cached functions that may have been unloaded, so that the next call looks them up again. */
void hook_names_forget(void);

/* The entry HOOK_BEGIN. The library of stubs calls it before all other entries. A is the address of
 * the first stub, B the number of stubs, SLOT the first of B slots. */
hook_entry_fn hook_names_begin;

/* The entry HOOK_BIND. The dynamic linker calls it when it binds a reference to the name of SLOT.
 * Returns the address to bind. Async-signal-safe. */
hook_entry_fn hook_names_bind;

#endif
