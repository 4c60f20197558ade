/* heap.h: records events of the program's own heaps; see heap.c. */
#ifndef EVENT_HEAP_H
#define EVENT_HEAP_H

#include "account/thread.h"
#include "heaps/heap_instance.h"
#include "platform/arch_x86_64.h"

enum heap_form {
    HEAP_PLAIN,
    HEAP_LASTS,     // The heap is never reset, and destroyed only when no object is live.
    HEAP_COLLECTED, // Like HEAP_LASTS; a collector reports objects that it finds dead.
};

/* Create a heap called NAME, with objects that lie side by side if IS_DENSE. Its events are charged
 * to their stacks without the SKIP_FRAMES innermost frames. Return its handle. If there is no room,
 * count a loss and return 0. */
uint64_t heap_create(const char *name, unsigned skip_frames, enum heap_form form, bool is_dense);

/* Record that a garbage collection of the heap HANDLE ended at ELAPSED_NS. Has no effect if the
 * heap does not exist. */
void heap_collected(uint64_t handle, uint64_t elapsed_ns);

/* Record an operation of the program on the heap HANDLE, at the stack that called from CALLER. Call
 * in an event of T. Events that cannot be recorded are counted as lost. */
void heap_destroy(struct thread *t, uint64_t handle);
void heap_alloc(struct thread *t, uint64_t handle, const void *p, uint64_t count,
                uint64_t size_bytes, struct arch_caller caller);
void heap_resize(struct thread *t, uint64_t handle, const void *old, const void *p,
                 uint64_t size_bytes, struct arch_caller caller);
void heap_free(struct thread *t, uint64_t handle, const void *p, struct arch_caller caller);
void heap_reset(struct thread *t, uint64_t handle);
void heap_backing(struct thread *t, uint64_t handle, void *p, uint64_t size_bytes,
                  struct arch_caller caller);

/* Record that P no longer backs the heap. If P was a block of malloc before, record it again as a
 * block that was allocated at CALLER. */
void heap_backing_end(struct thread *t, uint64_t handle, void *p, struct arch_caller caller);

/* Slow paths of heap_fast_path.h, which record the allocation of one object at P. The object's
 * stack is the stack that called from CALLER, or TARGET's stack. Each function requires an event
 * begun by reentry_enter, of a thread to which the fast path is open, and ends the event.
 * heap_alloc_coarse is for objects larger than HEAP_FINE_BYTES. */
void heap_alloc_coarse(uint64_t handle, const void *p, uint64_t size_bytes,
                       const struct stack_target *target);
void heap_alloc_miss(uint64_t handle, const void *p, uint64_t size_bytes,
                     struct arch_caller caller);
void heap_alloc_at(uint64_t handle, const void *p, uint64_t size_bytes,
                   const struct stack_target *target);

/* Store the address P of an object of SITE with BIRTH that is already counted. */
void heap_keep_counted(uint64_t handle, const void *p, uint64_t size_bytes, uint32_t site,
                       uint32_t birth);

/* Record the end of the object at P. Requires and ends an event, like the functions above. */
void heap_free_begun(uint64_t handle, const void *p, struct arch_caller caller);

#endif
