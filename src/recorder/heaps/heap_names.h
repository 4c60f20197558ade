/* heap_names.h: stores the names of the program's own heaps; see heap_names.c.
 * Async-signal-safe. */
#ifndef HEAPS_HEAP_NAMES_H
#define HEAPS_HEAP_NAMES_H

#include "base/base.h"

/* One name in this process. */
struct heap_name {
    uint32_t record;   // Atomic: index of its record in DISK_HEAPS; 0 = none.
    uint32_t other[2]; // Atomic: nodes below "other", for objects and for backing.
};

/* Create the table of names when recording starts. Return false if memory is exhausted. */
bool heap_names_start(void);

/* Return the number of NAME (NULL: ""). If the table is full, return the number of "other heaps".
 * Numbers stay valid for the life of the program and its children. */
uint32_t heap_name_number(const char *name);

/* Return the name with NUMBER in this process. Create its record if it has none. */
struct heap_name *heap_name(uint32_t number);

/* Record that a collector ends the objects of the heaps with this name. Also applies to
 * children. */
void heap_name_collects(uint32_t number);

#endif
