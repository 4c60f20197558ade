/* embedded_wrapped_config.h: the embedded allocator in a static Linux program, over the C
 * library's, which ld --wrap leaves under the names __real_malloc and so on. */
#ifndef WRAPPED_CONFIG_H
#define WRAPPED_CONFIG_H

#include <pthread.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
extern void *__libc_stack_end;
// One for all files that include this one: weak, so that none of them has to define it.
__attribute__((weak)) pthread_mutex_t wrapped_lock = PTHREAD_MUTEX_INITIALIZER;

#define HEAPTAP_EMBEDDED_NAME(f) __wrap_##f
#define HEAPTAP_EMBEDDED_REAL_MALLOC(n) __real_malloc(n)
#define HEAPTAP_EMBEDDED_REAL_REALLOC(p, n) __real_realloc(p, n)
#define HEAPTAP_EMBEDDED_REAL_FREE(p) __real_free(p)
#define HEAPTAP_EMBEDDED_UNKNOWN_FREE(p) __real_free(p)
#define HEAPTAP_EMBEDDED_LOCK() pthread_mutex_lock(&wrapped_lock)
#define HEAPTAP_EMBEDDED_UNLOCK() pthread_mutex_unlock(&wrapped_lock)
// Other threads' stacks lie elsewhere: for these only the innermost caller is kept.
#define HEAPTAP_EMBEDDED_STACK_END __libc_stack_end

#endif
