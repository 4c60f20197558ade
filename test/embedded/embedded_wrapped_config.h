/* embedded_wrapped_config.h: the embedded allocator in a static Linux program, on top of the C
 * library's allocator, which is named __real_malloc and so on because of ld --wrap. */
#ifndef WRAPPED_CONFIG_H
#define WRAPPED_CONFIG_H

#include <pthread.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
extern void *__libc_stack_end;
// One definition for all files that include this one: weak, so that it can be repeated.
__attribute__((weak)) pthread_mutex_t wrapped_lock = PTHREAD_MUTEX_INITIALIZER;

#define HEAPTAP_EMBEDDED_NAME(f) __wrap_##f
#define HEAPTAP_EMBEDDED_REAL_MALLOC(n) __real_malloc(n)
#define HEAPTAP_EMBEDDED_REAL_REALLOC(p, n) __real_realloc(p, n)
#define HEAPTAP_EMBEDDED_REAL_FREE(p) __real_free(p)
#define HEAPTAP_EMBEDDED_UNKNOWN_FREE(p) __real_free(p)
#define HEAPTAP_EMBEDDED_LOCK() pthread_mutex_lock(&wrapped_lock)
#define HEAPTAP_EMBEDDED_UNLOCK() pthread_mutex_unlock(&wrapped_lock)
// Stacks of other threads are elsewhere: for these, only the innermost caller is stored.
#define HEAPTAP_EMBEDDED_STACK_END __libc_stack_end

#endif
