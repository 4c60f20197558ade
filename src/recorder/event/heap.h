/* heap.h: the program's own heaps, as it tells us of them; see heap.c. */
#ifndef EVENT_HEAP_H
#define EVENT_HEAP_H

#include "account/heap_instance.h"
#include "account/thread.h"
#include "platform/arch_x86_64.h"

enum heap_form {
    HEAP_PLAIN,
    HEAP_LASTS,     // It is never emptied, and destroyed only when nothing lives in it.
    HEAP_COLLECTED, // The same, and objects end when a collector has found them dead.
};

/* Make a heap called NAME, whose events are charged to their stacks without the SKIP_FRAMES
 * innermost frames. Returns its handle, or 0 if there can be none, which is counted. */
uint64_t heap_create(const char *name, unsigned skip_frames, enum heap_form form);

/* A collection of what is in the heap HANDLE, if there is such a one, was over at ELAPSED_NS. */
void heap_collected(uint64_t handle, uint64_t elapsed_ns);

/* What the program does with the heap HANDLE. An event has begun for T, and what cannot be recorded
 * is counted. CALLER: whose stack it is. */
void heap_destroy(struct thread *t, uint64_t handle);
void heap_alloc(struct thread *t, uint64_t handle, const void *p, uint64_t count,
                uint64_t size_bytes, struct arch_caller caller);
void heap_resize(struct thread *t, uint64_t handle, const void *old, const void *p,
                 uint64_t size_bytes, struct arch_caller caller);
void heap_free(struct thread *t, uint64_t handle, const void *p, struct arch_caller caller);
void heap_reset(struct thread *t, uint64_t handle);
void heap_backing(struct thread *t, uint64_t handle, void *p, uint64_t size_bytes,
                  struct arch_caller caller);

/* P backs the heap no more. If it was malloc's it is the program's again, allocated at CALLER. */
void heap_backing_end(struct thread *t, uint64_t handle, void *p, struct arch_caller caller);

/* An event that enter_begins has begun for an ordinary thread, and which ends in these, because it
 * was not done by heap_ordinary.h. P is one object that comes from CALLER, or whose stack is that
 * of TARGET, */
void heap_alloc_elsewhere(uint64_t handle, const void *p, uint64_t size_bytes,
                          struct arch_caller caller);
void heap_alloc_at(uint64_t handle, const void *p, uint64_t size_bytes,
                   const struct stack_target *target);

/* or it is of that SITE and BIRTH, and counted, but not kept, */
void heap_keep_counted(uint64_t handle, const void *p, uint64_t size_bytes, uint32_t site,
                       uint32_t birth);

/* or it ends. */
void heap_free_begun(uint64_t handle, const void *p, struct arch_caller caller);

#endif
