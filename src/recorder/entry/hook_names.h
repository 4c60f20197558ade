/* hook_names.h: the names that are hooked, and who has them. See hook_names_dynamic.c. */
#ifndef ENTRY_HOOK_NAMES_H
#define ENTRY_HOOK_NAMES_H

#include "base/hook_slot.h"

/* What the recorder's table holds for stubs: the arguments of the hooked function as they came, and
 * the stub's slot. */
typedef uintptr_t hook_entry_fn(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                                uintptr_t e, struct hook_slot *slot);

/* The function behind us whose name SLOT has; NULL if nobody has it. Signal-safe. */
void *hook_names_find(const struct hook_slot *slot);

/* Something may have been unloaded: what was found is to be found anew. */
void hook_names_forget(void);

/* The entry HOOK_BEGIN, called by the library of stubs before all others: A is the address of its
 * first stub, B how many there are, SLOT the first of as many slots. */
hook_entry_fn hook_names_begin;

/* The entry HOOK_BIND, called by the dynamic linker when it binds a reference to the name of SLOT:
 * where that is to lead. Signal-safe. */
hook_entry_fn hook_names_bind;

#endif
