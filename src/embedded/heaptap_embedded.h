/* heaptap_embedded.h: a heap that is its own profile, for systems without files, threads or a
 * dynamic linker. It consists of this file and heaptap_embedded.c: copy the two, or add them to a
 * build.
 *
 * The size of every block, and the stack that allocated it, are stored before the user's bytes. So
 * any copy of the memory (a probe's, a core, bytes from a serial line) is a profile, which
 *
 *     heaptap rawdump --elf PROGRAM RAM.bin@0x20000000
 *
 * reads. Guard bytes after each block reveal overflows, in the dump and in the running program.
 * docs/guide/embedded.md explains the porting, docs/internals/annotated.md the layout in memory.
 *
 * It needs C99 and no library. Macros describe the system. They must be the same for all files of
 * the program: set them on the command line, or in a header. Then HEAPTAP_EMBEDDED_CONFIG is the
 * header's name, including quotation marks:
 *
 *     HEAPTAP_EMBEDDED_REAL_MALLOC(n)     the real allocator, aligned to HEAPTAP_EMBEDDED_ALIGN,
 *     HEAPTAP_EMBEDDED_REAL_FREE(p)       or
 *     HEAPTAP_EMBEDDED_POOL_BYTES         size of a static pool for the allocator included here
 *
 * and, each with a default:
 *
 *     HEAPTAP_EMBEDDED_REAL_REALLOC(p, n) without it, growing a block copies it
 *     HEAPTAP_EMBEDDED_FRAMES             minimum number of return addresses per stack: 8
 *     HEAPTAP_EMBEDDED_GUARD              guard bytes after a block, 0 to 255: 8
 *     HEAPTAP_EMBEDDED_ALIGN              alignment of every block: two words
 *     HEAPTAP_EMBEDDED_STACK_END          end address of the present stack, for frame pointers;
 *                                         without it only the caller of malloc is recorded
 *     HEAPTAP_EMBEDDED_UNWIND             1: use the unwind tables (_Unwind_Backtrace, libgcc)
 *     HEAPTAP_EMBEDDED_STACK(f, n)        your function: store up to n return addresses in f,
 *                                         innermost first, and return their number
 *     HEAPTAP_EMBEDDED_LOCK()             called around each change or walk of the heap:
 *     HEAPTAP_EMBEDDED_UNLOCK()           nothing
 *     HEAPTAP_EMBEDDED_CLOCK()            a time in your unit: each block grows by a word with
 *                                         the time of its allocation
 *     HEAPTAP_EMBEDDED_THREAD()           number of the running task: each block grows by a word
 *                                         with the number of the allocating task
 *     HEAPTAP_EMBEDDED_ON_DAMAGE(d)       called for damage found by free and realloc
 *     HEAPTAP_EMBEDDED_UNKNOWN_FREE(p)    action for a pointer that is not a block of this heap:
 *                                         none; it is counted in any case
 *     HEAPTAP_EMBEDDED_UNKNOWN_REALLOC(p, n)  the same for realloc: none, returns NULL
 *     HEAPTAP_EMBEDDED_HEAP_BEGIN, _END   range that checks scan: from the lowest to the highest
 *                                         address that the real allocator has returned; 0 and 0
 *                                         if the range has holes
 *     HEAPTAP_EMBEDDED_NAME(f)            names of the functions: heaptap_embedded_ ## f;
 *                                         f to replace malloc, __wrap_ ## f for ld --wrap
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

/* The functions of C, C11 and POSIX. They may be called before main, and from any context that
 * HEAPTAP_EMBEDDED_LOCK allows. malloc(0) returns a block; realloc(p, 0) frees p and returns
 * NULL. */
void *HEAPTAP_EMBEDDED_NAME(malloc)(size_t size);
void HEAPTAP_EMBEDDED_NAME(free)(void *block);
void *HEAPTAP_EMBEDDED_NAME(calloc)(size_t count, size_t size);
void *HEAPTAP_EMBEDDED_NAME(realloc)(void *block, size_t size);
void *HEAPTAP_EMBEDDED_NAME(memalign)(size_t alignment, size_t size);
void *HEAPTAP_EMBEDDED_NAME(aligned_alloc)(size_t alignment, size_t size);
int HEAPTAP_EMBEDDED_NAME(posix_memalign)(void **ret_block, size_t alignment, size_t size);

/* Return the requested size of BLOCK; 0 if it is not a block of this heap. */
size_t HEAPTAP_EMBEDDED_NAME(malloc_usable_size)(void *block);

struct heaptap_embedded_stats {
    size_t live_blocks, live_bytes;
    size_t peak_bytes;           // Peak of live bytes, counted by requested sizes.
    size_t overhead_bytes;       // Bytes of the annotations and guards of live blocks.
    unsigned long allocations, frees;
    unsigned long failed;        // Calls that returned no block for lack of memory.
    unsigned long damaged;       // Number of damaged blocks found by free and realloc.
    unsigned long unknown_frees; // Number of frees of foreign pointers and second frees.
};

/* Copy the present statistics to *RET. */
void heaptap_embedded_get_stats(struct heaptap_embedded_stats *ret);

enum heaptap_embedded_damage_kind {
    HEAPTAP_EMBEDDED_PAST_END = 1, // The program wrote past the end of `block`.
    HEAPTAP_EMBEDDED_BEFORE_START, // The program wrote before the start of `block`.
    // The annotation of `block` was overwritten, most likely by a write past the end of `front`,
    // the block before it.
    HEAPTAP_EMBEDDED_OVERWRITTEN,
    HEAPTAP_EMBEDDED_FREED_TWICE,  // `block` was already freed.
    HEAPTAP_EMBEDDED_UNKNOWN_FREE, // No block of this heap, or its annotation is lost.
};

/* A block, as its annotation describes it. All fields are zero if there is no block. For a damaged
 * block, only the intact fields are set. */
struct heaptap_embedded_block {
    const void *address; // Address of the user's bytes.
    size_t size;
    const uintptr_t *frames; // Return addresses, innermost first.
    unsigned frame_count;
};

struct heaptap_embedded_damage {
    enum heaptap_embedded_damage_kind kind;
    struct heaptap_embedded_block block;
    struct heaptap_embedded_block front; // The nearest whole block before it, if known.
    const void *at;                      // The lowest address known to have changed.
};

typedef void heaptap_embedded_report(void *arg, const struct heaptap_embedded_damage *damage);

/* Examine every block of the heap by ascending address. Call REPORT, unless it is NULL, for each
 * damaged block. The lock is held throughout, so REPORT must not allocate. Return the number of
 * damaged blocks. */
size_t heaptap_embedded_check(heaptap_embedded_report *report, void *arg);

/* Examine about STEP bytes of the heap, like heaptap_embedded_check. Call from an idle task. Each
 * call continues where the previous call ended. After the end of the heap, the next call starts at
 * its beginning. */
size_t heaptap_embedded_check_next(size_t step, heaptap_embedded_report *report, void *arg);

/* Return the bytes that a block needs from the real allocator in addition to its size, with the
 * default alignment. */
size_t heaptap_embedded_overhead(void);

#ifdef __cplusplus
}
#endif

#endif
