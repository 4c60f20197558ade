/* wrap.h: record an allocator whose functions have other names than malloc's, without changing it.
 *
 *     #include <heaptap/wrap.h>
 *
 *     HEAPTAP_WRAP_HEAP(rtos, "RTOS heap")         the name that reports show
 *     HEAPTAP_WRAP_MALLOC(rtos, pvPortMalloc)
 *     HEAPTAP_WRAP_FREE(rtos, vPortFree)
 *
 * in one file of the program, which is linked with
 *
 *     -Wl,--wrap=pvPortMalloc,--wrap=vPortFree
 *
 * The linker then sends calls of pvPortMalloc to __wrap_pvPortMalloc, which is defined here: it
 * calls the real function and reports to the recorder. HEAPTAP_WRAP_CALLOC, _REALLOC and _MEMALIGN
 * work likewise. Each requires the parameters and the result of the function of the C library in
 * its name. Wrap any other function by hand in the same way, with heaptap.h. Without a recorder a
 * call costs a few more instructions.
 *
 * Calls from shared libraries are not seen. Calls from the object file that defines the function
 * may not be seen, because most linkers do not redirect them. For the same reason, link-time
 * optimisation that merges allocator and callers may hide any call (compile the allocator without
 * it).
 *
 * An allocator that takes its memory from malloc should report that with heaptap_backing; otherwise
 * those bytes are counted in both places. If one thread resizes a block while another thread
 * allocates, the allocator may give the old place to the other thread before the recorder is
 * informed. Hold a lock around both, or expect a few blocks in the report's count of overwritten
 * ones.
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
/* Keep the wrapper a separate frame, which stacks leave out, even if the whole program is compiled
 * at once. */
#define HEAPTAP_WRAP_FRAME_ __attribute__((noinline, used))

/* Define the heap HEAP, the name for the other macros, shown as NAME. It is created before other
 * constructors run. If a function of the allocator calls another, only the outer call counts. */
#define HEAPTAP_WRAP_HEAP(heap, name)                                                              \
    static heaptap_heap *heaptap_wrap_##heap##_;                                                   \
    static __thread char *heaptap_wrap_in_##heap##_;                                               \
    static void __attribute__((constructor(101))) heaptap_wrap_make_##heap##_(void)                \
    {                                                                                              \
        heaptap_wrap_##heap##_ = heaptap_heap_create(name, 1);                                     \
    }

/* The outermost call in progress is identified by its frame, not by a depth. A call left by longjmp
 * or an exception is forgotten when a call comes from at least as far out. */
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

/* If the result is NULL, the old block still exists, unless BYTES is 0. */
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
