/* heap.h: events of the program's own heaps; see heap.c. */
#ifndef EVENT_HEAP_H
#define EVENT_HEAP_H

#include "account/thread.h"
#include "heaps/heap_instance.h"
#include "platform/arch_x86_64.h"

enum heap_form {
    HEAP_PLAIN,
    HEAP_LASTS,     // Never reset, and destroyed only when nothing lives in it.
    HEAP_COLLECTED, // Like HEAP_LASTS; objects end when a collector has found them dead.
};

/* Create a heap called NAME, whose events are charged to their stacks without the SKIP_FRAMES
 * innermost frames. Return its handle; 0 if there is no room, which is counted. */
uint64_t heap_create(const char *name, unsigned skip_frames, enum heap_form form);

/* Record that a collection of the heap HANDLE, if it exists, ended at ELAPSED_NS. */
void heap_collected(uint64_t handle, uint64_t elapsed_ns);

/* Record an operation of the program on the heap HANDLE, by the stack that called from CALLER. Call
 * in an event of T. Events that cannot be recorded are counted. */
void heap_destroy(struct thread *t, uint64_t handle);
void heap_alloc(struct thread *t, uint64_t handle, const void *p, uint64_t count,
                uint64_t size_bytes, struct arch_caller caller);
void heap_resize(struct thread *t, uint64_t handle, const void *old, const void *p,
                 uint64_t size_bytes, struct arch_caller caller);
void heap_free(struct thread *t, uint64_t handle, const void *p, struct arch_caller caller);
void heap_reset(struct thread *t, uint64_t handle);
void heap_backing(struct thread *t, uint64_t handle, void *p, uint64_t size_bytes,
                  struct arch_caller caller);

/* P no longer backs the heap. If it was a block of malloc, it is one again, allocated at CALLER. */
void heap_backing_end(struct thread *t, uint64_t handle, void *p, struct arch_caller caller);

/* Slow paths of heap_fast_path.h. Each requires that reentry_enter has begun the event of a thread
 * to which the fast path is open, and ends it. These record the allocation of one object at P, by
 * the stack that called from CALLER or belongs to TARGET; the first, of more than
 * HEAP_FINE_BYTES. */
void heap_alloc_coarse(uint64_t handle, const void *p, uint64_t size_bytes,
                       const struct stack_target *target);
void heap_alloc_miss(uint64_t handle, const void *p, uint64_t size_bytes,
                     struct arch_caller caller);
void heap_alloc_at(uint64_t handle, const void *p, uint64_t size_bytes,
                   const struct stack_target *target);

/* Store the address of P, an object of SITE with BIRTH that is counted already. */
void heap_keep_counted(uint64_t handle, const void *p, uint64_t size_bytes, uint32_t site,
                       uint32_t birth);

/* Record the end of the object at P. */
void heap_free_begun(uint64_t handle, const void *p, struct arch_caller caller);

#endif
