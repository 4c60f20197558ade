/* modules.h: assigns ids to loaded objects that contain recorded frames; see modules.c. */
#ifndef STACK_MODULES_H
#define STACK_MODULES_H

#include "platform/state.h"

/* Private data of a module. The file's record with the same id has the rest. */
struct module_range {
    uint64_t start, end;
    const void *link_map;
    uint32_t gone; // Atomic: nonzero if the module is unloaded.
};

/* Allocate the table when recording starts. Return false if memory is exhausted. */
bool modules_start(void);

/* Return the module id of OBJECT, or 0 if there is no room. If OBJECT is new, record it. */
uint32_t modules_id(const struct unwind_object *object);

/* Mark unloaded modules and invalidate cached rules. Call when an object may have been unloaded. */
void modules_sweep(void);

#endif
