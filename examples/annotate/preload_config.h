/* preload_config.h: configure the embedded allocator as a library to preload into Linux programs,
 * over glibc's malloc. Every block of the program and its libraries then has its stack in memory.
 *
 *     gcc -O2 -g -fPIC -shared -IEMBEDDED '-DHEAPTAP_EMBEDDED_CONFIG="preload_config.h"' \
 *         -o annotate.so EMBEDDED/heaptap_embedded.c preload_stack.c
 *     LD_PRELOAD=./annotate.so program; heaptap rawdump core */
#ifndef PRELOAD_CONFIG_H
#define PRELOAD_CONFIG_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

void *__libc_malloc(size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);
unsigned preload_stack(uintptr_t *frames, unsigned max);
extern pthread_mutex_t preload_lock;

#define HEAPTAP_EMBEDDED_NAME(f) f
#define HEAPTAP_EMBEDDED_FRAMES 16
#define HEAPTAP_EMBEDDED_REAL_MALLOC(n) __libc_malloc(n)
#define HEAPTAP_EMBEDDED_REAL_REALLOC(p, n) __libc_realloc(p, n)
#define HEAPTAP_EMBEDDED_REAL_FREE(p) __libc_free(p)
// For blocks from before the library was loaded, and from valloc, which it does not define.
#define HEAPTAP_EMBEDDED_UNKNOWN_FREE(p) __libc_free(p)
#define HEAPTAP_EMBEDDED_UNKNOWN_REALLOC(p, n) __libc_realloc(p, n)
// No fixed range, because there are holes between large blocks.
#define HEAPTAP_EMBEDDED_HEAP_BEGIN 0
#define HEAPTAP_EMBEDDED_HEAP_END 0
#define HEAPTAP_EMBEDDED_STACK(frames, max) preload_stack(frames, max)
#define HEAPTAP_EMBEDDED_LOCK() pthread_mutex_lock(&preload_lock)
#define HEAPTAP_EMBEDDED_UNLOCK() pthread_mutex_unlock(&preload_lock)

#endif
