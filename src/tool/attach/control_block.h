/* control_block.h: the recorder's part of glibc's control block of each thread. */
#ifndef ATTACH_CONTROL_BLOCK_H
#define ATTACH_CONTROL_BLOCK_H

#include "attach/plan.h"
#include "attach/stop.h"

/* Clear the recorder's TLS_BYTES of thread S. Return false if they cannot be written. */
bool control_block_clear(const struct target *t, const struct stopped *s, uint64_t tls_bytes);

/* Check that each thread's control block is as glibc lays it out, and that the recorder's part of
 * it is unused. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
int control_block_check_all(const struct plan *p, const struct threads *s, struct err *err);

#endif
