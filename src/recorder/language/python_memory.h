/* python_memory.h: records objects in CPython's own allocator. */
#ifndef LANGUAGE_PYTHON_MEMORY_H
#define LANGUAGE_PYTHON_MEMORY_H

#include "language/python_layout.h"

/* Report objects from now on. Call before the interpreter is initialised. The interpreter's code is
 * the BYTES at CODE. */
void python_memory_begin(const struct python_layout *layout, const void *code, size_t bytes);

/* Check that the hooks are still installed: the interpreter may choose other allocators while it is
 * initialised. Call often until python_memory_settled is true, and whenever the interpreter may
 * have ended. */
void python_memory_settle(void);

extern bool python_memory_settled;

#endif
