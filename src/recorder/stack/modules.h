/* modules.h: the loaded objects that contain recorded frames. */
#ifndef STACK_MODULES_H
#define STACK_MODULES_H

#include "platform/state.h"

/* The recorder's private data of a module, beside the file's record of the same id. */
struct module_range {
    uint64_t start, end;
    const void *link_map;
    uint32_t gone; // Atomic: unloaded.
};

/* Allocate the table when recording starts. Return false without memory. */
bool modules_start(void);

/* Return the module id of OBJECT, recording it if new; 0 when there is no room. */
uint32_t modules_id(const struct unwind_object *object);

/* Mark the modules that were unloaded and invalidate cached rules. Call when something may have
 * been unloaded. */
void modules_sweep(void);

#endif
