/* stack_frames.h: collects the return addresses of an allocation's stack for its annotation. */
#ifndef EVENT_STACK_FRAMES_H
#define EVENT_STACK_FRAMES_H

#include "base/base.h"
#include "platform/arch_x86_64.h"

struct heaptap_language;

/* Store the innermost MAX return addresses of the stack that called an intercepted function from
 * CALLER in RET_FRAMES, and the thread's id in *RET_TID. Return their number. Return 0 if the stack
 * is not available: the process is not recorded, or a signal handler has interrupted the recorder.
 * May be called before recording has started, and when a function of the real allocator has called
 * back. Async-signal-safe. */
uint32_t frames_of(struct arch_caller caller, uint64_t *ret_frames, uint32_t max,
                   uint64_t *ret_tid);

/* Return the node of that stack; 0 in the same cases. */
uint32_t frames_node(struct arch_caller caller);

/* --- adapt.c: registers language adapters; see adapt.c. Call at any time, inside or outside
 * events. */

/* Register LANGUAGE; the recorder calls it from now on. Return false if there is no room. */
bool adapt_language(const struct heaptap_language *language);

/* Register [START, END) as code of a runtime. Return false if there is no room. */
bool adapt_runtime_code(uint64_t start, uint64_t end);

/* Return true if [FIRST, END) is readable. Makes a system call for each page, except for pages of
 * the thread's own stack from the running function outwards. */
bool adapt_can_read(uint64_t first, uint64_t end);

/* Return the number of inner frames of an adapter's answer that the recorder reads. */
size_t adapt_frames_wanted(void);

#endif
