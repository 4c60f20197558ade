/* modules.h: the loaded objects that frames have been seen in. */
#ifndef STACK_MODULES_H
#define STACK_MODULES_H

#include "platform/state.h"

/* What the recorder keeps beside the file's record of the same id. */
struct module_range {
    uint64_t start, end;
    const void *link_map;
    uint32_t gone; // Atomic: unloaded.
};

/* Make the table when recording starts. False without memory. */
bool modules_start(void);

/* The module id of OBJECT, recorded if new; 0 when there is no room. */
uint32_t modules_id(const struct unwind_object *object);

/* Called after something may have been unloaded: marks what is gone and makes cached rules stale.
 * */
void modules_sweep(void);

#endif
