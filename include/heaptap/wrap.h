/* wrap.h: record an allocator whose functions are not called malloc and free, without changing it.
 *
 *     #include <heaptap/wrap.h>
 *
 *     HEAPTAP_WRAP_HEAP(rtos, "RTOS heap")         the name that reports show
 *     HEAPTAP_WRAP_MALLOC(rtos, pvPortMalloc)
 *     HEAPTAP_WRAP_FREE(rtos, vPortFree)
 *
 * Put these lines into one file of the program, and link the program with
 *
 *     -Wl,--wrap=pvPortMalloc,--wrap=vPortFree
 *
 * The linker then redirects calls of pvPortMalloc to __wrap_pvPortMalloc. The macro defines that
 * function: it calls the real one and reports the event to the recorder. HEAPTAP_WRAP_CALLOC,
 * _REALLOC and _MEMALIGN work likewise. The wrapped function must have the parameters and the
 * result of the C library's function in the macro's name. Wrap any other function by hand in the
 * same way, with heaptap.h. Without a recorder, a wrapped call costs a few more instructions.
 *
 * Calls from shared libraries are not recorded. Most linkers do not redirect calls within the
 * object file that defines the function, so these may be missing too. For the same reason,
 * link-time optimisation that merges the allocator with its callers can hide calls: compile the
 * allocator without it.
 *
 * An allocator that takes its memory from malloc should report that memory with heaptap_backing;
 * otherwise the bytes count twice. While one thread resizes a block, another thread may be given
 * the old address before the resize is reported. The report then counts an overwritten block. A
 * lock around resizes and allocations prevents that.
 *
 * Licence: MIT, with the text in heaptap.h. */
#ifndef HEAPTAP_WRAP_H
#define HEAPTAP_WRAP_H

#include <heaptap/heaptap.h>

#if defined(__GNUC__) && defined(__ELF__)

#ifdef __cplusplus
#define HEAPTAP_WRAP_C_ extern "C"
#else
#define HEAPTAP_WRAP_C_ extern
#endif
/* Attributes of a wrapper. A wrapper stays a separate frame, which stacks leave out, even when the
 * whole program is compiled as one unit. */
#define HEAPTAP_WRAP_FRAME_ __attribute__((noinline, used))

/* Define the heap HEAP, shown in reports as NAME; the other macros take HEAP as their first
 * argument. The heap is created before other constructors run. If one function of the allocator
 * calls another, only the outer call is recorded. */
#define HEAPTAP_WRAP_HEAP(heap, name)                                                              \
    static heaptap_heap *heaptap_wrap_##heap##_;                                                   \
    static __thread char *heaptap_wrap_in_##heap##_;                                               \
    static void __attribute__((constructor(101))) heaptap_wrap_make_##heap##_(void)                \
    {                                                                                              \
        heaptap_wrap_##heap##_ = heaptap_heap_create(name, 1);                                     \
    }

/* Set `outer_` if this is the outermost call of HEAP's functions in this thread. The call in
 * progress is identified by its frame address instead of a depth, because longjmp and exceptions
 * may leave a call without its end. A call from the same frame address or further out proves that
 * the recorded call has ended. */
#define HEAPTAP_WRAP_ENTER_(heap)                                                                  \
    char *frame_ = (char *)__builtin_frame_address(0);                                             \
    int outer_ = heaptap_wrap_in_##heap##_ == 0 || frame_ >= heaptap_wrap_in_##heap##_;            \
    if (outer_)                                                                                    \
        heaptap_wrap_in_##heap##_ = frame_;

#define HEAPTAP_WRAP_MALLOC(heap, function)                                                        \
    HEAPTAP_WRAP_C_ void *__real_##function(size_t bytes);                                         \
    HEAPTAP_WRAP_C_ void *__wrap_##function(size_t bytes);                                         \
    HEAPTAP_WRAP_FRAME_ void *__wrap_##function(size_t bytes)                                      \
    {                                                                                              \
        void *p;                                                                                   \
                                                                                                   \
        HEAPTAP_WRAP_ENTER_(heap)                                                                  \
        p = __real_##function(bytes);                                                              \
        if (outer_)                                                                                \
            heaptap_wrap_in_##heap##_ = 0;                                                         \
        if (p != NULL && outer_)                                                                   \
            heaptap_alloc(heaptap_wrap_##heap##_, p, 1, bytes);                                    \
        return p;                                                                                  \
    }

#define HEAPTAP_WRAP_CALLOC(heap, function)                                                        \
    HEAPTAP_WRAP_C_ void *__real_##function(size_t count, size_t bytes);                           \
    HEAPTAP_WRAP_C_ void *__wrap_##function(size_t count, size_t bytes);                           \
    HEAPTAP_WRAP_FRAME_ void *__wrap_##function(size_t count, size_t bytes)                        \
    {                                                                                              \
        void *p;                                                                                   \
                                                                                                   \
        HEAPTAP_WRAP_ENTER_(heap)                                                                  \
        p = __real_##function(count, bytes);                                                       \
        if (outer_)                                                                                \
            heaptap_wrap_in_##heap##_ = 0;                                                         \
        bytes *= count;                                                                            \
        if (p != NULL && outer_)                                                                   \
            heaptap_alloc(heaptap_wrap_##heap##_, p, 1, bytes);                                    \
        return p;                                                                                  \
    }

#define HEAPTAP_WRAP_MEMALIGN(heap, function)                                                      \
    HEAPTAP_WRAP_C_ void *__real_##function(size_t align, size_t bytes);                           \
    HEAPTAP_WRAP_C_ void *__wrap_##function(size_t align, size_t bytes);                           \
    HEAPTAP_WRAP_FRAME_ void *__wrap_##function(size_t align, size_t bytes)                        \
    {                                                                                              \
        void *p;                                                                                   \
                                                                                                   \
        HEAPTAP_WRAP_ENTER_(heap)                                                                  \
        p = __real_##function(align, bytes);                                                       \
        if (outer_)                                                                                \
            heaptap_wrap_in_##heap##_ = 0;                                                         \
        if (p != NULL && outer_)                                                                   \
            heaptap_alloc(heaptap_wrap_##heap##_, p, 1, bytes);                                    \
        return p;                                                                                  \
    }

/* A NULL result leaves the old block live, unless BYTES is 0: then the block was freed. */
#define HEAPTAP_WRAP_REALLOC(heap, function)                                                       \
    HEAPTAP_WRAP_C_ void *__real_##function(void *old, size_t bytes);                              \
    HEAPTAP_WRAP_C_ void *__wrap_##function(void *old, size_t bytes);                              \
    HEAPTAP_WRAP_FRAME_ void *__wrap_##function(void *old, size_t bytes)                           \
    {                                                                                              \
        void *p;                                                                                   \
                                                                                                   \
        HEAPTAP_WRAP_ENTER_(heap)                                                                  \
        p = __real_##function(old, bytes);                                                         \
        if (outer_)                                                                                \
            heaptap_wrap_in_##heap##_ = 0;                                                         \
        if (!outer_)                                                                               \
            return p;                                                                              \
        if (p != NULL && old == NULL)                                                              \
            heaptap_alloc(heaptap_wrap_##heap##_, p, 1, bytes);                                    \
        else if (p != NULL)                                                                        \
            heaptap_resize(heaptap_wrap_##heap##_, old, p, bytes);                                 \
        else if (old != NULL && bytes == 0)                                                        \
            heaptap_free(heaptap_wrap_##heap##_, old);                                             \
        return p;                                                                                  \
    }

#define HEAPTAP_WRAP_FREE(heap, function)                                                          \
    HEAPTAP_WRAP_C_ void __real_##function(void *p);                                               \
    HEAPTAP_WRAP_C_ void __wrap_##function(void *p);                                               \
    HEAPTAP_WRAP_FRAME_ void __wrap_##function(void *p)                                            \
    {                                                                                              \
        HEAPTAP_WRAP_ENTER_(heap)                                                                  \
        if (p != NULL && outer_)                                                                   \
            heaptap_free(heaptap_wrap_##heap##_, p);                                               \
        __real_##function(p);                                                                      \
        if (outer_)                                                                                \
            heaptap_wrap_in_##heap##_ = 0;                                                         \
    }

#endif

#endif
