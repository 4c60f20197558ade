/* stack_frames.h: collects the return addresses of an allocation's stack for its annotation. */
#ifndef EVENT_STACK_FRAMES_H
#define EVENT_STACK_FRAMES_H

#include "base/base.h"
#include "platform/arch_x86_64.h"

/* Store the innermost MAX return addresses of the stack that called an intercepted function from
 * CALLER in RET_FRAMES, and the thread's id in *RET_TID. Return their number. Return 0 if the stack
 * is not available: the process is not recorded, or a signal handler has interrupted the recorder.
 * May be called before recording has started, and when a function of the real allocator has called
 * back. Async-signal-safe. */
uint32_t frames_of(struct arch_caller caller, uint64_t *ret_frames, uint32_t max,
                   uint64_t *ret_tid);

/* Return the node of the stack that called from CALLER. Return 0 in the same cases. */
uint32_t frames_node(struct arch_caller caller);

#endif
