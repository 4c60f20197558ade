/* heaptap.h: report memory that does not come from malloc to heaptap.
 *
 * For programs with their own allocators (arenas, pools, slabs, collectors), and for programs that
 * add labels, phases and snapshots to their profile, or write it themselves.
 *
 *     static heaptap_heap *heap;
 *
 *     heap = heaptap_heap_create("parser arena", 1);       once
 *     p = bump(arena, n);
 *     heaptap_alloc(heap, p, 1, n);                        at each allocation
 *     heaptap_reset(heap);                                 when all of it ends
 *
 * A header suffices: there is no library to link. A recorder is present under `heaptap run`, with a
 * preloaded libheaptap.so, or in a program that is linked with libheaptap.a and started with
 * HEAPTAP=1. Each event is then recorded with the caller's stack, as for malloc. Without a
 * recorder, a call does nothing and costs a load, a test and a branch that is not taken.
 *
 * All functions are thread-safe and async-signal-safe, even on the same heap. They preserve errno
 * and never end the program. Events that cannot be recorded are counted as losses, and every report
 * shows the count. Strings are copied.
 *
 * The header works in position-dependent, position-independent and static executables, in shared
 * objects and in plug-ins. The language is C, from C89 on, or C++. All functions do nothing on
 * systems other than Linux on x86-64, and with compilers without GNU attributes.
 *
 * Licence: MIT, independent of your program's licence.
 *
 * Copyright (c) 2026 the authors of heaptap
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
 * associated documentation files (the "Software"), to deal in the Software without restriction,
 * including without limitation the rights to use, copy, modify, merge, publish, distribute,
 * sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
 * furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or
 * substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING
 * BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
 * NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
 * DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */
#ifndef HEAPTAP_HEAPTAP_H
#define HEAPTAP_HEAPTAP_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Handle of a heap of the program. Calls with a NULL handle record nothing. A handle stays valid in
 * children made by fork. */
typedef struct heaptap_heap heaptap_heap;

/* Set of labels that a thread had at one moment; 0 = none. */
typedef unsigned heaptap_labels;

/* Function table of a recorder. Later versions append members; `size` shows which exist. */
struct heaptap_recorder {
    unsigned version; /* Version of the table: 1. */
    unsigned size;    /* sizeof(struct heaptap_recorder) in the recorder */
    heaptap_heap *(*heap_create)(const char *name, unsigned skip_frames);
    void (*heap_destroy)(heaptap_heap *heap);
    void (*alloc)(heaptap_heap *heap, const void *p, size_t count, size_t bytes);
    void (*resize)(heaptap_heap *heap, const void *old, const void *p, size_t bytes);
    void (*release)(heaptap_heap *heap, const void *p);
    void (*reset)(heaptap_heap *heap);
    void (*backing)(heaptap_heap *heap, const void *p, size_t bytes);
    void (*backing_end)(heaptap_heap *heap, const void *p);
    void (*label)(const char *key, const char *value);
    heaptap_labels (*labels)(void);
    void (*set_labels)(heaptap_labels labels);
    void (*phase)(const char *name);
    void (*snapshot)(const char *name);
    void (*start)(void);
    void (*stop)(void);
    void (*max_memory)(size_t bytes);
    int (*write)(int fd, const char *format);
};

#if defined(HEAPTAP_IS_RECORDER)

extern const struct heaptap_recorder heaptap_recorder_v1;

#else

#if defined(__GNUC__) && defined(__ELF__) && defined(__x86_64__) && defined(__LP64__)

extern const struct heaptap_recorder heaptap_recorder_v1
    __attribute__((weak, visibility("default")));

/* Address of the recorder's function table, NULL without a recorder. Each executable and shared
 * object has one such pointer, shared by all its files.
 *
 * In a shared object, the dynamic linker fills it in. In an executable, the linker may resolve the
 * undefined weak symbol to 0, so the recorder must store the address itself. It finds the pointer
 * by the note below: the address of the note's word plus the value of that word. Every file emits a
 * note outside of any group: linkers that discard unused sections keep notes, except those in a
 * group. */
__attribute__((weak, visibility("hidden"), used)) const struct heaptap_recorder *heaptap_recorder_ =
    &heaptap_recorder_v1;

__asm__(".pushsection .note.heaptap,\"a\",@note\n"
        "\t.balign 4\n"
        "\t.long 8, 8, 1\n"
        "\t.asciz \"heaptap\"\n"
        "\t.quad heaptap_recorder_ - .\n"
        "\t.popsection");

#else

#define heaptap_recorder_ ((const struct heaptap_recorder *)0)

#endif

#if defined(__GNUC__)
#define HEAPTAP_IS_THERE_ __builtin_expect(heaptap_recorder_ != NULL, 0)
#define HEAPTAP_API_ static __inline__ __attribute__((unused, always_inline))
#else
#define HEAPTAP_IS_THERE_ (heaptap_recorder_ != NULL)
#define HEAPTAP_API_ static
#endif

#define HEAPTAP_CALL_(call)                                                                        \
    do {                                                                                           \
        if (HEAPTAP_IS_THERE_)                                                                     \
            heaptap_recorder_->call;                                                               \
    } while (0)
#define HEAPTAP_ASK_(call, otherwise) (HEAPTAP_IS_THERE_ ? heaptap_recorder_->call : (otherwise))

/* --- Heaps ------------------------------------------------------------------------------------ */

/* Create a heap and return its handle; NULL without a recorder. Reports show the heap under NAME,
 * and sum heaps with the same name. Creation is cheap enough for a heap per request.
 *
 * SKIP_FRAMES is the number of innermost frames to leave out of the stacks of the heap's events.
 * These are the allocator's own functions, which must not be inlined. There is room for about 1000
 * names of 127 bytes; further heaps are shown as "other heaps". */
HEAPTAP_API_ heaptap_heap *
heaptap_heap_create(const char *name, unsigned skip_frames)
{
    return HEAPTAP_ASK_(heap_create(name, skip_frames), NULL);
}

/* Record that HEAP is destroyed, and with it every object that is live in it. */
HEAPTAP_API_ void
heaptap_heap_destroy(heaptap_heap *heap)
{
    HEAPTAP_CALL_(heap_destroy(heap));
}

/* Record that COUNT objects, of BYTES in total, were allocated at P.
 *
 * P may be any number below 2^47, such as an offset: it only identifies objects within HEAP. Pass
 * NULL if the objects will not be freed one by one; then only heaptap_reset and
 * heaptap_heap_destroy end them. Each live object with an address costs 8 to 16 bytes of the
 * recorder's memory, within the limit of heaptap_max_memory.
 *
 * Call this after the program has obtained P, and heaptap_free before it gives P up. Otherwise
 * another thread could report the same address in between. */
HEAPTAP_API_ void
heaptap_alloc(heaptap_heap *heap, const void *p, size_t count, size_t bytes)
{
    HEAPTAP_CALL_(alloc(heap, p, count, bytes));
}

/* Record that the allocation at OLD now has BYTES and is at P, which may equal OLD. The event
 * counts like a realloc: the block ends at the stack that allocated it and begins at this one. */
HEAPTAP_API_ void
heaptap_resize(heaptap_heap *heap, const void *old, const void *p, size_t bytes)
{
    HEAPTAP_CALL_(resize(heap, old, p, bytes));
}

/* Record that the allocation at P is freed. */
HEAPTAP_API_ void
heaptap_free(heaptap_heap *heap, const void *p)
{
    HEAPTAP_CALL_(release(heap, p));
}

/* Record that everything live in HEAP is freed. HEAP is then empty and can be used again. The time
 * is proportional to the number of stacks in HEAP; the number of live objects does not matter. */
HEAPTAP_API_ void
heaptap_reset(heaptap_heap *heap)
{
    HEAPTAP_CALL_(reset(heap));
}

/* Record that HEAP makes its objects from the BYTES at P, which come from malloc or elsewhere.
 *
 * If P is a block of malloc, malloc's totals then exclude it, so no byte counts twice. Reports show
 * it as backing of HEAP, together with how full the backing is. A realloc turns it back into a
 * block of malloc.
 *
 * Call this right after the allocation, in the same thread. The peak then excludes the block in a
 * program with one thread; with several threads, the peak may include it until this call. Memory
 * from another heap of the program is not recognised here: if one heap makes its chunks from
 * another, report only the objects of the inner heap. */
HEAPTAP_API_ void
heaptap_backing(heaptap_heap *heap, const void *p, size_t bytes)
{
    HEAPTAP_CALL_(backing(heap, p, bytes));
}

/* Record that P no longer backs HEAP. A block of malloc then counts in malloc's totals again. Call
 * this before P is given back. It is not needed if free frees P, which also ends the backing. */
HEAPTAP_API_ void
heaptap_backing_end(heaptap_heap *heap, const void *p)
{
    HEAPTAP_CALL_(backing_end(heap, p));
}

/* --- Labels, phases, snapshots ---------------------------------------------------------------- */

/* Attach the label KEY=VALUE to all later allocations of this thread, by malloc or from heaps. A
 * VALUE of NULL removes the label KEY. A new thread has no labels. The child of a fork has the
 * labels of the thread that called fork.
 *
 * There is room for 4094 different sets of 1024 bytes, and 2 MiB in total. Further sets are shown
 * as one, "other", so do not use values that never repeat. A thread keeps the set "other" until it
 * removes a label with NULL or restores other labels. */
HEAPTAP_API_ void
heaptap_label(const char *key, const char *value)
{
    HEAPTAP_CALL_(label(key, value));
}

/* Return the current labels of this thread; 0 = none, or no recorder. They can be restored later,
 * or set in another thread of this process or its children. */
HEAPTAP_API_ heaptap_labels
heaptap_labels_get(void)
{
    return HEAPTAP_ASK_(labels(), 0);
}

HEAPTAP_API_ void
heaptap_labels_set(heaptap_labels labels)
{
    HEAPTAP_CALL_(set_labels(labels));
}

/* Record that the program begins the phase NAME. A phase is a name on the timeline, and reports can
 * select its interval. Names are cut after 32 bytes. */
HEAPTAP_API_ void
heaptap_phase(const char *name)
{
    HEAPTAP_CALL_(phase(name));
}

/* Record the live bytes and blocks of every stack at this moment under NAME (`heaptap report --at
 * NAME`). Names are cut after 32 bytes. */
HEAPTAP_API_ void
heaptap_snapshot(const char *name)
{
    HEAPTAP_CALL_(snapshot(name));
}

/* --- The recorder ----------------------------------------------------------------------------- */

HEAPTAP_API_ int
heaptap_is_present(void)
{
    return HEAPTAP_ASK_(version, 0u) != 0;
}

/* Start or stop recording. Frees and resets of blocks that were recorded are always recorded. Heaps
 * are recorded exactly, even while malloc is sampled. */
HEAPTAP_API_ void
heaptap_start(void)
{
    HEAPTAP_CALL_(start());
}

HEAPTAP_API_ void
heaptap_stop(void)
{
    HEAPTAP_CALL_(stop());
}

/* Limit the recorder's memory, its file included, to BYTES from now on; 0 = a quarter of the
 * machine's memory. Near the limit, new stacks keep only their innermost frames. Objects of heaps
 * that find no room are counted as allocated, but their frees are lost, and only heaptap_reset and
 * heaptap_heap_destroy end them. Every report shows the losses. */
HEAPTAP_API_ void
heaptap_max_memory(size_t bytes)
{
    HEAPTAP_CALL_(max_memory(bytes));
}

/* Write a profile of the present state to the descriptor FD of a file, a pipe or a socket. FORMAT
 * is "pprof" for pprof's text format, which pprof symbolises with the program, or "heaptap" for a
 * profile that heaptap reads. Return 0; or -1 without a recorder, under `heaptap run --reserve`, or
 * if writing failed. Blocks while the reader is slow; raises no SIGPIPE. */
HEAPTAP_API_ int
heaptap_write(int fd, const char *format)
{
    return HEAPTAP_ASK_(write(fd, format), -1);
}

#endif

#ifdef __cplusplus
}
#endif

#endif
