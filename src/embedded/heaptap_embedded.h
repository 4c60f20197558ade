/* heaptap_embedded.h: a heap that explains itself, for systems without files, threads or a dynamic
 * linker. It needs no other source than heaptap_embedded.c: copy the two, or add them to a build.
 *
 * Every block carries its size and the stack that allocated it in front of the user's bytes, so any
 * copy of the memory (a probe's, a core, bytes from a serial line) is a profile, which
 *
 *     heaptap rawdump --elf PROGRAM RAM.bin@0x20000000
 *
 * reads. Bytes behind each block reveal overflows, in the dump and in the running program.
 * docs/guide/embedded.md explains how to port it, docs/internals/annotated.md the layout in memory.
 *
 * It needs C99 and no library. Macros describe what the system provides. They must be the same for
 * all files of the program: set them on the command line, or in a header that
 * HEAPTAP_EMBEDDED_CONFIG names, quotation marks included:
 *
 *     HEAPTAP_EMBEDDED_REAL_MALLOC(n)     the real allocator, aligned to HEAPTAP_EMBEDDED_ALIGN,
 *     HEAPTAP_EMBEDDED_REAL_FREE(p)       or
 *     HEAPTAP_EMBEDDED_POOL_BYTES         size of a static pool for the allocator included here
 *
 * and, each with a default:
 *
 *     HEAPTAP_EMBEDDED_REAL_REALLOC(p, n) without it, growing a block copies it
 *     HEAPTAP_EMBEDDED_FRAMES             minimum of return addresses kept per stack: 8
 *     HEAPTAP_EMBEDDED_GUARD              guard bytes behind a block, 0 to 255: 8
 *     HEAPTAP_EMBEDDED_ALIGN              of every block: two words
 *     HEAPTAP_EMBEDDED_STACK_END          address behind the present stack, for frame pointers;
 *                                         without it only the caller of malloc is kept
 *     HEAPTAP_EMBEDDED_UNWIND             1: ask the unwind tables (_Unwind_Backtrace, libgcc)
 *     HEAPTAP_EMBEDDED_STACK(f, n)        your function: store up to n return addresses in f,
 *                                         innermost first, and return their number
 *     HEAPTAP_EMBEDDED_LOCK()             around each change or walk of the heap: nothing
 *     HEAPTAP_EMBEDDED_UNLOCK()
 *     HEAPTAP_EMBEDDED_CLOCK()            a time in your unit: each block grows by a word that
 *                                         holds the time of its allocation
 *     HEAPTAP_EMBEDDED_THREAD()           number of the running task: likewise, the allocating one
 *     HEAPTAP_EMBEDDED_ON_DAMAGE(d)       called for damage found by free and realloc
 *     HEAPTAP_EMBEDDED_UNKNOWN_FREE(p)    what to do with a pointer that is not our block:
 *                                         nothing; it is counted in any case
 *     HEAPTAP_EMBEDDED_UNKNOWN_REALLOC(p, n)  the same for realloc: no block
 *     HEAPTAP_EMBEDDED_HEAP_BEGIN, _END   range that checks scan: from the lowest to the highest
 *                                         address that the real allocator has handed out; 0 and 0
 *                                         if there are holes between
 *     HEAPTAP_EMBEDDED_NAME(f)            names of the functions: heaptap_embedded_ ## f;
 *                                         f takes the place of malloc, __wrap_ ## f with ld --wrap
 */
#ifndef HEAPTAP_EMBEDDED_H
#define HEAPTAP_EMBEDDED_H

#ifdef HEAPTAP_EMBEDDED_CONFIG
#include HEAPTAP_EMBEDDED_CONFIG
#endif

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef HEAPTAP_EMBEDDED_NAME
#define HEAPTAP_EMBEDDED_NAME(f) heaptap_embedded_##f
#endif

/* As in C, C11 and POSIX. They may be called before main, and from any context that
 * HEAPTAP_EMBEDDED_LOCK allows. malloc(0) is a block; realloc(p, 0) is free(p) and NULL. */
void *HEAPTAP_EMBEDDED_NAME(malloc)(size_t size);
void HEAPTAP_EMBEDDED_NAME(free)(void *block);
void *HEAPTAP_EMBEDDED_NAME(calloc)(size_t count, size_t size);
void *HEAPTAP_EMBEDDED_NAME(realloc)(void *block, size_t size);
void *HEAPTAP_EMBEDDED_NAME(memalign)(size_t alignment, size_t size);
void *HEAPTAP_EMBEDDED_NAME(aligned_alloc)(size_t alignment, size_t size);
int HEAPTAP_EMBEDDED_NAME(posix_memalign)(void **ret_block, size_t alignment, size_t size);

/* Return the requested size of BLOCK; 0 if it is not our block. */
size_t HEAPTAP_EMBEDDED_NAME(malloc_usable_size)(void *block);

struct heaptap_embedded_stats {
    size_t live_blocks, live_bytes;
    size_t peak_bytes;           // Peak of live bytes, as requested.
    size_t overhead_bytes;       // Annotations and guards of the live blocks.
    unsigned long allocations, frees;
    unsigned long failed;        // Calls that returned no block because memory ran out.
    unsigned long damaged;       // Found by free and realloc.
    unsigned long unknown_frees; // Frees of foreign pointers, including double frees.
};

/* Copy the current numbers to *RET. */
void heaptap_embedded_get_stats(struct heaptap_embedded_stats *ret);

enum heaptap_embedded_damage_kind {
    HEAPTAP_EMBEDDED_PAST_END = 1, // The user of `block` wrote past its end.
    HEAPTAP_EMBEDDED_BEFORE_START, // The user of `block` wrote before its beginning.
    HEAPTAP_EMBEDDED_OVERWRITTEN,  // The annotation of `block` was overwritten. Most likely the
                                   // user of `front`, the block before it, wrote too far.
    HEAPTAP_EMBEDDED_FREED_TWICE,  // `block` had been freed.
    HEAPTAP_EMBEDDED_UNKNOWN_FREE, // Not our block; or its whole annotation is lost.
};

/* A block as its annotation describes it. All zero if there is none; for a damaged block, the
 * fields that survived. */
struct heaptap_embedded_block {
    const void *address; // First of the user's bytes.
    size_t size;
    const uintptr_t *frames; // Return addresses, the innermost first.
    unsigned frame_count;
};

struct heaptap_embedded_damage {
    enum heaptap_embedded_damage_kind kind;
    struct heaptap_embedded_block block;
    struct heaptap_embedded_block front; // The nearest block before it that is whole, if known.
    const void *at;                      // The lowest byte known to have changed.
};

typedef void heaptap_embedded_report(void *arg, const struct heaptap_embedded_damage *damage);

/* Examine every block of the heap by rising address. Call REPORT, which may be NULL, for each
 * damaged one. The lock is held throughout, so REPORT must not allocate. Returns the number of
 * damaged blocks. */
size_t heaptap_embedded_check(heaptap_embedded_report *report, void *arg);

/* The same for about STEP bytes at a time, for an idle task: each call continues where the last one
 * ended and restarts at the end of the heap. */
size_t heaptap_embedded_check_next(size_t step, heaptap_embedded_report *report, void *arg);

/* Return the bytes that a block takes from the real allocator beyond its size, with the usual
 * alignment. */
size_t heaptap_embedded_overhead(void);

#ifdef __cplusplus
}
#endif

#endif
