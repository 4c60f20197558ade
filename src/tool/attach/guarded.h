/* guarded.h: attach or detach in a separate process, which nobody interrupts. */
#ifndef ATTACH_GUARDED_H
#define ATTACH_GUARDED_H

#include "attach/attach.h"

/* The answer of the guardian. */
struct guarded_outcome {
    int result; // Result of attach_begin or attach_end.
    struct attach_cost cost;
    struct err err;
};

/* Attach to process PID as in HOW, or detach from it if HOW is NULL. If an attach fails, remove the
 * profile. */
void guarded_run(uint32_t pid, const struct attach_how *how, struct guarded_outcome *ret);

#endif
