/* python_memory.h: objects in CPython's own allocator. */
#ifndef LANGUAGE_PYTHON_MEMORY_H
#define LANGUAGE_PYTHON_MEMORY_H

#include "language/python_layout.h"

/* Report objects from now on. Call before the interpreter begins; its code is the BYTES at CODE. */
void python_memory_begin(const struct python_layout *layout, const void *code, size_t bytes);

/* The interpreter may have chosen other allocators while it began. To be called often until it has
 * begun, when python_memory_settled becomes true, and whenever it may have ended. */
void python_memory_settle(void);

extern bool python_memory_settled;

#endif
