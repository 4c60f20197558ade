/* bypass.h: libc's own allocator, when that is called and not what comes first in link order. See
 * bypass_dynamic.c. */
#ifndef ENTRY_BYPASS_H
#define ENTRY_BYPASS_H

#include "allocator/behind.h"

/* What is to come in front of the program's libc where the allocator behind us is another; NULL
 * where it is libc's own, or libc is not known. */
const struct next *bypass_front(void);

/* That of the program's libc, which is known. The next one in link order may be somebody's who has
 * looked libc's up, and found this. */
dlclose_fn bypass_dlclose;

/* From now on, who looks up allocator functions of the program's libc finds those of FRONT. To be
 * called once, when libc is known; what cannot be done is counted as a loss. */
void bypass_take(const struct next *front);

/* A call of calloc from SLOT while dlmopen is under way, perhaps by the dynamic linker. */
void bypass_look(uint64_t slot);

#endif
