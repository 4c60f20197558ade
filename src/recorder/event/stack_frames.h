/* stack_frames.h: the return addresses of the stack of an allocation, for its annotation.
 */
#ifndef EVENT_STACK_FRAMES_H
#define EVENT_STACK_FRAMES_H

#include "platform/arch_x86_64.h"

/* Put the innermost MAX return addresses of the stack that called an intercepted function from
 * CALLER into RET_FRAMES, and the id of the thread into *RET_TID; returns how many. 0 if the stack
 * cannot be had: the process is not recorded, or a signal handler has come while the recorder was
 * at work. May be called before recording has started, and when a function of the next allocator
 * has called back. Signal-safe. */
uint32_t frames_of(struct arch_caller caller, uint64_t *ret_frames, uint32_t max,
                   uint64_t *ret_tid);

/* The node of that stack; 0 likewise. */
uint32_t frames_node(struct arch_caller caller);

#endif
