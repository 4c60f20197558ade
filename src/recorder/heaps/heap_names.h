/* heap_names.h: the names of the program's own heaps; see heap_names.c. Signal-safe. */
#ifndef HEAPS_HEAP_NAMES_H
#define HEAPS_HEAP_NAMES_H

#include "base/base.h"

/* One name in this process. */
struct heap_name {
    uint32_t record;   // Atomic: its index in DISK_HEAPS; 0 = none yet.
    uint32_t other[2]; // Atomic: nodes below "other" for its objects and for its backing.
};

/* Make the table of names when recording starts. False without memory. */
bool heap_names_start(void);

/* Return the number of NAME (NULL: ""), or the number of "other heaps" when the table is full.
 * Numbers hold for the life of the program and its children. */
uint32_t heap_name_number(const char *name);

/* Return the name with that number in this process, with its record created. */
struct heap_name *heap_name(uint32_t number);

/* Mark the heaps with that number as collected: a collector ends their objects, also in
 * children. */
void heap_name_collects(uint32_t number);

#endif
