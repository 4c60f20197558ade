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
 * A header suffices: there is no library to link. Without a recorder (`heaptap run`, a preloaded
 * libheaptap.so, or a libheaptap.a in a program that was started with HEAPTAP=1) each call is a
 * load, a test and a branch that is not taken, and does nothing. With a recorder, an event is
 * recorded with the stack that called the function, just like an event of malloc.
 *
 * All functions are thread-safe and async-signal-safe, also for the same heap at once. They leave
 * errno unchanged and never end the program. Events that cannot be recorded are counted as losses,
 * which every report shows. Strings are copied.
 *
 * Supported are executables at fixed and at any addresses, static ones, shared objects and
 * plug-ins, in C from C89 on and in C++. Without a recorder, on other systems and processors than
 * Linux on x86-64, and with compilers without GNU attributes, everything here does nothing.
 *
 * Licence: MIT, whatever the rest of your program has.
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

/* A heap of the program's own. Nothing is recorded for NULL. Stays valid in children made by
 * fork. */
typedef struct heaptap_heap heaptap_heap;

/* The labels of a thread at one moment; 0 = none. */
typedef unsigned heaptap_labels;

/* The functions of a recorder. Later versions append functions; `size` shows which exist. */
struct heaptap_recorder {
    unsigned version; /* 1 */
    unsigned size;    /* sizeof(struct heaptap_recorder) of the recorder's */
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

/* One pointer in each executable and shared object, shared by all its files. In a shared object the
 * dynamic linker fills it in. In an executable, linkers may resolve an undefined weak symbol to 0.
 * So the note there gives the recorder the pointer's address: the address of the note's word plus
 * the value of that word. Every file has a note, because linkers that discard unused sections keep
 * notes, but not notes in a group. */
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

/* Create a heap and return it; NULL without a recorder. Reports show it under NAME, and heaps with
 * the same name as one heap. Creating one for each request costs next to nothing. The innermost
 * SKIP_FRAMES frames are left out of the stacks of its events: the allocator's own functions, which
 * must not be inlined then. There is room for about 1000 names of 127 bytes; further heaps are
 * shown as "other heaps". */
HEAPTAP_API_ heaptap_heap *
heaptap_heap_create(const char *name, unsigned skip_frames)
{
    return HEAPTAP_ASK_(heap_create(name, skip_frames), NULL);
}

/* End HEAP and everything live in it. */
HEAPTAP_API_ void
heaptap_heap_destroy(heaptap_heap *heap)
{
    HEAPTAP_CALL_(heap_destroy(heap));
}

/* Record that COUNT objects, of BYTES in total, were allocated at P. P may be any number below
 * 2^47, such as an offset: it only has a meaning within HEAP. P may be NULL if the objects will not
 * be freed one by one: then only heaptap_reset and heaptap_heap_destroy end them. The recorder uses
 * 8 to 16 bytes of memory for each live object with an address, within the limit of
 * heaptap_max_memory. Call this after the program owns P, and heaptap_free while it still does. */
HEAPTAP_API_ void
heaptap_alloc(heaptap_heap *heap, const void *p, size_t count, size_t bytes)
{
    HEAPTAP_CALL_(alloc(heap, p, count, bytes));
}

/* Record that the allocation at OLD now has BYTES and is at P, which may equal OLD. Counted like
 * malloc's realloc: the allocation leaves the stack that allocated it and enters this one. */
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

/* Record that everything live in HEAP is freed. HEAP stays usable, and is empty. Takes time in
 * proportion to the number of stacks in HEAP, however many objects are live. */
HEAPTAP_API_ void
heaptap_reset(heaptap_heap *heap)
{
    HEAPTAP_CALL_(reset(heap));
}

/* Record that HEAP makes its objects from the BYTES at P, from malloc or elsewhere. If P is a block
 * of malloc, it is no longer counted as allocated there. Reports show it as backing of HEAP, with
 * how full it is, so no byte counts twice. Call this right after that allocation, in the same
 * thread. Then, in a program with one thread, the block is no part of the peak either; with several
 * threads it is until this call. A realloc makes it a block of malloc again. Memory from another
 * heap of the program is not recognised here: if one heap makes its chunks from another, report
 * only the objects of the inner heap. */
HEAPTAP_API_ void
heaptap_backing(heaptap_heap *heap, const void *p, size_t bytes)
{
    HEAPTAP_CALL_(backing(heap, p, bytes));
}

/* Record that P no longer backs HEAP. Call this before P is given back. A block of malloc counts as
 * one again from then on. This call is not needed if such a block is freed: free is enough. */
HEAPTAP_API_ void
heaptap_backing_end(heaptap_heap *heap, const void *p)
{
    HEAPTAP_CALL_(backing_end(heap, p));
}

/* --- Labels, phases, snapshots ---------------------------------------------------------------- */

/* Attach the label KEY=VALUE to all later allocations of this thread, by malloc or from heaps; a
 * VALUE of NULL removes the label KEY. A new thread has no labels. The child of a fork has the
 * labels of the thread that called fork. There is room for 4094 different sets of 1024 bytes, and 2
 * MiB in total. Further sets are shown as one, "other", so do not use values that never repeat. A
 * thread with that set keeps it until a label is removed with NULL or other labels are restored. */
HEAPTAP_API_ void
heaptap_label(const char *key, const char *value)
{
    HEAPTAP_CALL_(label(key, value));
}

/* Return the present labels of this thread; 0 = none, or no recorder. They can be restored later,
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

/* Record that the program begins a phase: a name on the timeline that selects an interval in
 * reports. Names are cut after 32 bytes. */
HEAPTAP_API_ void
heaptap_phase(const char *name)
{
    HEAPTAP_CALL_(phase(name));
}

/* Keep the live bytes and blocks of every stack at this moment under NAME (`heaptap report --at
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

/* Start or stop recording. Frees and resets of recorded blocks are always seen. Heaps are recorded
 * exactly, even while malloc is sampled. */
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

/* Limit the recorder's memory, its file included, to BYTES from now on; 0 = no limit. At the limit,
 * known stacks are still counted and new ones are charged to "other". Objects of heaps without room
 * are counted as allocated, but their frees are lost, which every report shows; only heaptap_reset
 * and heaptap_heap_destroy end them. */
HEAPTAP_API_ void
heaptap_max_memory(size_t bytes)
{
    HEAPTAP_CALL_(max_memory(bytes));
}

/* Write the profile in its present state to the descriptor FD, a file, a pipe or a socket. Waits
 * for a slow reader and raises no SIGPIPE. FORMAT is "pprof" for the text that pprof reads
 * (together with the program, for the symbols), or "heaptap" for a profile that heaptap reads.
 * Return 0; or -1 without a recorder, under `heaptap run --reserve`, or if writing failed. */
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
