/* heap_names.h: the names of the program's own heaps; see heap_names.c. Signal-safe. */
#ifndef ACCOUNT_HEAP_NAMES_H
#define ACCOUNT_HEAP_NAMES_H

#include "base/base.h"

/* One name in this process. */
struct heap_name {
    uint32_t record;   // Atomic: its index in DISK_HEAPS; 0 = none yet.
    uint32_t other[2]; // Atomic: nodes below "other" for its objects and for its backing.
};

/* Make the table of names when recording starts. False without memory. */
bool heap_names_start(void);

/* The number of NAME (NULL: ""), that of "other heaps" when there are no more. It holds for the
 * life of the program and its children. */
uint32_t heap_name_number(const char *name);

/* The name of that number in this process, with a record. */
struct heap_name *heap_name(uint32_t number);

/* A collector ends the objects of heaps of that number, also in children. */
void heap_name_collects(uint32_t number);

#endif
