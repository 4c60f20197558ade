/* python_adapter.h: how the files of the CPython adapter work together. */
#ifndef LANGUAGE_PYTHON_ADAPTER_H
#define LANGUAGE_PYTHON_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/base.h"
#include "heaptap/language.h"
#include "language/python_layout.h"

/* --- python_frames.c: the Python functions that run in the calling thread. */

/* Functions of the interpreter that the adapter calls, and `eval`. None of them takes a lock. */
struct python_asked {
    void *(*current)(void);     // Returns the current thread state: the one that holds the
                                // interpreter's lock, or this thread's.
    void *(*of_thread)(void);   // Returns this thread's first thread state.
    int (*is_initialized)(void);
    void *(*interpreters)(void); // Returns the interpreter that was created last.
    void *(*main)(void);         // Returns the main interpreter.
    const void *eval;            // Address of the function that runs Python functions.
};

void python_frames_begin(const struct python_layout *layout, const struct python_asked *asked);

/* Implement frames_again and memo_bytes of heaptap/language.h. */
size_t python_frames_again(struct heaptap_frame *end, void *memo, const unsigned long *notes,
                           size_t *ret_same);
extern const size_t python_memo_bytes;

/* Return true if the interpreter calls a trace or profile function in the current thread. Such a
 * function can change the instruction of an outer frame. */
bool python_frames_is_traced(void);

/* Implement `place` of heaptap/language.h. Needed only in 3.9, where a Python frame has no address
 * that lies in its C frame. */
void python_frames_place(struct heaptap_frame *frames, size_t count,
                         const struct heaptap_native *natives, size_t native_count);

/* --- python_line.c: finds the line of an instruction in the line table of its code object. */

/* Return the line of the instruction that is AT bytes after the first instruction of a code object;
 * 0 if it has no line. The code object begins at line FIRST. Its line table has BYTES at TABLE, in
 * the format KIND, and may have any content. */
unsigned python_line_of(enum python_lines kind, const unsigned char *table, size_t bytes,
                        unsigned first, uint64_t at);

/* --- python_memory.c: records objects in CPython's own allocator. */

/* Install the hooks that report objects. Call before the interpreter is initialised. The
 * interpreter's code has BYTES at CODE. */
void python_memory_begin(const struct python_layout *layout, const void *code, size_t bytes);

/* Check that the hooks are still installed: the interpreter may choose other allocators while it is
 * initialised. Call often until python_memory_hooks_final is true, and whenever the interpreter may
 * have ended. */
void python_memory_check_hooks(void);

extern bool python_memory_hooks_final;

/* --- python_name.c: assigns recorder ids to instructions of Python functions. */

/* Position of a frame that has executed no instruction yet. */
#define PYTHON_NOT_BEGUN UINT64_MAX

/* Initialise; call before the other functions. TYPE is the type of code objects. */
void python_name_begin(const struct python_layout *layout, const void *type);

/* Return the number of the code object CODE; 0 if CODE is not a code object. CODE may have any
 * value. A code object stays readable while it runs. Thread-safe and async-signal-safe. */
uint64_t python_name_code(const void *code);

/* Return the id for a frame of CODE, whose number is NUMBER, at the instruction AT bytes after the
 * first. */
unsigned python_name_of(const void *code, uint64_t number, uint64_t at);

/* Record that the object at P is about to be freed. Call for all objects, with the interpreter's
 * lock held. */
void python_name_freed(const void *p);

/* --- python_reach.c: checks that frames of the interpreter are readable. */

/* Memory that one walk has proved readable. A whole frame is readable if it begins in [memory,
 * memory + memory_room), or on the C stack in [stack, stack + stack_room). */
struct python_reach {
    uintptr_t memory, memory_room;
    uintptr_t stack, stack_room;
    bool asked; // Only a system call proved the latest frame readable.
};

/* Types of objects that contain frames; NULL = the interpreter has no such type. */
struct python_owners {
    const void *generator, *coroutine, *async_generator, *frame;
};

void python_reach_begin(const struct python_layout *layout, const struct python_owners *owners);

/* Drop all proofs except this thread's known part of the C stack. */
void python_reach_start(struct python_reach *r);

/* Return true if the bytes of a frame at P are readable. Extend R by the proved memory. */
bool python_reach_prove(struct python_reach *r, const void *p);

/* Record that the block of malloc at P, which the domain `obj` allocated, is about to be freed. */
void python_reach_freed(const void *p);

static inline bool
python_can_reach(struct python_reach *r, const void *p)
{
    uintptr_t at = (uintptr_t)p;

    return likely((at & 7) == 0) &&
           (likely(at - r->memory < r->memory_room) || at - r->stack < r->stack_room ||
            (at != 0 && python_reach_prove(r, p)));
}

/* --- python_stats.c: makes sys._debugmallocstats work under the adapter's hooks. */

/* Same layout as PyMemAllocatorEx in the interpreter's headers. */
struct python_allocator {
    void *context;
    void *(*malloc)(void *context, size_t bytes);
    void *(*calloc)(void *context, size_t count, size_t bytes);
    void *(*realloc)(void *context, void *p, size_t bytes);
    void (*free)(void *context, void *p);
};

/* Initialise. Call before the interpreter is initialised. */
void python_stats_begin(void);

/* Call once, when the interpreter is initialised; calling inside malloc is permitted. Prepare
 * sys._debugmallocstats at the interpreter's next pending call: whenever that function runs, BEHIND
 * replaces the object allocator whose malloc is OURS. BEHIND must stay at its address. */
void python_stats_install(const struct python_allocator *behind, void *(*ours)(void *, size_t));

/* --- python_pages.c: sets of pages. */

enum {
    PYTHON_PAGE_BITS = 12,
    PYTHON_PAGES_WORD_BITS = 6,
    PYTHON_PAGES_LEAF_BITS = 14,
    PYTHON_PAGES_TOP_BITS = 47 - PYTHON_PAGES_LEAF_BITS - PYTHON_PAGES_WORD_BITS - PYTHON_PAGE_BITS,
};

struct python_pages {
    uint64_t *leaves[1 << PYTHON_PAGES_TOP_BITS]; // Atomic; a leaf has one bit per page of 4 GiB.
};

// Pages that the interpreter has mapped and not yet released: one set for objects, one for frames.
extern struct python_pages python_arenas, python_chunks;

/* Atomic: counts the events that invalidate cached facts: the release of a page of objects, of the
 * outermost chunk of a stack of frames, of an object that contains a frame, or of a code object. */
extern uint64_t python_gone;

/* If PRESENT, add the pages of the BYTES at P to PAGES, else remove them. Add nothing if there is
 * no memory for a leaf. */
void python_mark_pages(struct python_pages *pages, const void *p, size_t bytes, bool present);

/* Record that the interpreter has mapped a chunk of frames at P, or is about to unmap it. */
void python_chunk_begins(const void *p, size_t bytes);
void python_chunk_ends(const void *p, size_t bytes);

/* Return the number of the life of the chunk whose first frame is at FRAME. Return 0 if FRAME is
 * not the first frame of a chunk, or if the interpreter may reuse this chunk for another frame. The
 * interpreter unmaps such a chunk when its first frame returns, so as long as the number stays the
 * same, this frame has not returned. */
uint32_t python_chunk_life(const void *frame);

/* Add one to python_gone. Call before the memory is reused. */
static inline void
python_goes(void)
{
    __atomic_fetch_add(&python_gone, UINT64_C(1), __ATOMIC_RELEASE);
}

static inline bool
python_is_page_of(const struct python_pages *pages, uintptr_t address)
{
    uintptr_t word = address >> (PYTHON_PAGE_BITS + PYTHON_PAGES_WORD_BITS);
    uint64_t *leaf;

    if (unlikely(word >> PYTHON_PAGES_LEAF_BITS >= countof(pages->leaves)))
        return false;
    leaf = load_acquire(&pages->leaves[word >> PYTHON_PAGES_LEAF_BITS]);
    return leaf != NULL && load_relaxed(&leaf[word & ((1 << PYTHON_PAGES_LEAF_BITS) - 1)]) >>
                               (address >> PYTHON_PAGE_BITS & 63) & 1;
}

#endif
