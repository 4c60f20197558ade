/* api.h: declares the table of functions that programs call; see api.c. */
#ifndef ENTRY_API_H
#define ENTRY_API_H

#define HEAPTAP_IS_RECORDER
#include "heaptap/heaptap.h"

/* Record that a garbage collection has ended: heaptap_collected of language.h. */
unsigned long api_collected(heaptap_heap *const *heaps, size_t count);

#endif
