/* heaptap_embedded.h: a heap that explains itself, for systems without files, threads or a dynamic
 * linker. With heaptap_embedded.c it is all there is: copy the two, or add them to a build.
 *
 * Every block carries its size and the stack that allocated it in front of the user's bytes, so any
 * copy of the memory (a probe's, a core, bytes from a serial line) is a profile, which
 *
 *     heaptap rawdump --elf PROGRAM RAM.bin@0x20000000
 *
 * reads. Bytes behind each block tell of overflows, in the dump and in the running program.
 * docs/guide/embedded.md is the way to port it, docs/internals/annotated.md the layout in memory.
 *
 * It needs C99 and nothing of a library. What the system has to give is told by macros, the same
 * for all files of the program: on the command line, or in a header that HEAPTAP_EMBEDDED_CONFIG
 * names, quotation marks included:
 *
 *     HEAPTAP_EMBEDDED_REAL_MALLOC(n)     the allocator behind, aligned to HEAPTAP_EMBEDDED_ALIGN,
 *     HEAPTAP_EMBEDDED_REAL_FREE(p)       or
 *     HEAPTAP_EMBEDDED_POOL_BYTES         so many bytes of static memory, with an allocator of ours
 *
 * and, each with a default:
 *
 *     HEAPTAP_EMBEDDED_REAL_REALLOC(p, n) without it, blocks that are to grow are copied
 *     HEAPTAP_EMBEDDED_FRAMES             return addresses kept of a stack, at least: 8
 *     HEAPTAP_EMBEDDED_GUARD              guard bytes behind a block, 0 to 255: 8
 *     HEAPTAP_EMBEDDED_ALIGN              of every block: two words
 *     HEAPTAP_EMBEDDED_STACK_END          address behind the present stack, for frame pointers;
 *                                         without it only the caller of malloc is kept
 *     HEAPTAP_EMBEDDED_UNWIND             1: ask the unwind tables (_Unwind_Backtrace, libgcc)
 *     HEAPTAP_EMBEDDED_STACK(f, n)        a function of your own: up to n return addresses to f,
 *                                         the innermost first; how many
 *     HEAPTAP_EMBEDDED_LOCK()             around all that changes or looks at the heap: nothing
 *     HEAPTAP_EMBEDDED_UNLOCK()
 *     HEAPTAP_EMBEDDED_CLOCK()            a time in a unit of yours: each block is a word larger
 *                                         and says when it was allocated
 *     HEAPTAP_EMBEDDED_THREAD()           a number of the running task: likewise, who did
 *     HEAPTAP_EMBEDDED_ON_DAMAGE(d)       called for damage found by free and realloc
 *     HEAPTAP_EMBEDDED_UNKNOWN_FREE(p)    what to do with a pointer that is not one of our blocks:
 *                                         nothing, and it is counted
 *     HEAPTAP_EMBEDDED_UNKNOWN_REALLOC(p, n)  the same for realloc: no block
 *     HEAPTAP_EMBEDDED_HEAP_BEGIN, _END   where checks look: from the lowest to the highest
 *                                         address that the allocator behind has given out; 0 and 0
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

/* As in C, C11 and POSIX. They may be called before main, and from wherever HEAPTAP_EMBEDDED_LOCK
 * allows. malloc(0) is a block; realloc(p, 0) is free(p) and NULL. */
void *HEAPTAP_EMBEDDED_NAME(malloc)(size_t size);
void HEAPTAP_EMBEDDED_NAME(free)(void *block);
void *HEAPTAP_EMBEDDED_NAME(calloc)(size_t count, size_t size);
void *HEAPTAP_EMBEDDED_NAME(realloc)(void *block, size_t size);
void *HEAPTAP_EMBEDDED_NAME(memalign)(size_t alignment, size_t size);
void *HEAPTAP_EMBEDDED_NAME(aligned_alloc)(size_t alignment, size_t size);
int HEAPTAP_EMBEDDED_NAME(posix_memalign)(void **ret_block, size_t alignment, size_t size);

/* The size asked for; 0 if BLOCK is not one of ours. */
size_t HEAPTAP_EMBEDDED_NAME(malloc_usable_size)(void *block);

struct heaptap_embedded_stats {
    size_t live_blocks, live_bytes;
    size_t peak_bytes;           // The most that was live, in bytes asked for.
    size_t overhead_bytes;       // Annotations and guards of the live blocks.
    unsigned long allocations, frees;
    unsigned long failed;        // Calls that returned no block for want of memory.
    unsigned long damaged;       // Found by free and realloc.
    unsigned long unknown_frees; // Of what is not one of our blocks; freed twice is among them.
};

/* Copy the numbers of now to *RET. */
void heaptap_embedded_get_stats(struct heaptap_embedded_stats *ret);

enum heaptap_embedded_damage_kind {
    HEAPTAP_EMBEDDED_PAST_END = 1, // Whoever has `block` wrote past its end.
    HEAPTAP_EMBEDDED_BEFORE_START, // Whoever has `block` wrote before its beginning.
    HEAPTAP_EMBEDDED_OVERWRITTEN,  // The annotation of `block` was overwritten. It is most likely
                                   // that who has `front`, the block before it, wrote too far.
    HEAPTAP_EMBEDDED_FREED_TWICE,  // `block` had been freed.
    HEAPTAP_EMBEDDED_UNKNOWN_FREE, // Not a block of ours; or all of its annotation is gone.
};

/* A block as its annotation has it. All zero if there is none; of a damaged one, what is left. */
struct heaptap_embedded_block {
    const void *address; // Of the user's bytes.
    size_t size;
    const uintptr_t *frames; // Return addresses, the innermost first.
    unsigned frame_count;
};

struct heaptap_embedded_damage {
    enum heaptap_embedded_damage_kind kind;
    struct heaptap_embedded_block block;
    struct heaptap_embedded_block front; // The nearest block before it that is whole, if known.
    const void *at;                      // The lowest byte that is known to have changed.
};

typedef void heaptap_embedded_report(void *arg, const struct heaptap_embedded_damage *damage);

/* Look at every block of the heap and call REPORT, which may be NULL, for what is damaged, by
 * rising addresses. The lock is held all the while, so REPORT must not allocate. Returns how
 * many. */
size_t heaptap_embedded_check(heaptap_embedded_report *report, void *arg);

/* The same for about STEP bytes at a time, going on where the last call ended and beginning anew at
 * the end: for an idle task. */
size_t heaptap_embedded_check_next(size_t step, heaptap_embedded_report *report, void *arg);

/* How many bytes more than asked for a block takes of the allocator behind, if its alignment is the
 * usual one. */
size_t heaptap_embedded_overhead(void);

#ifdef __cplusplus
}
#endif

#endif
