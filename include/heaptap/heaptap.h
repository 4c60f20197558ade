/* heaptap.h: tell heaptap about memory that is not malloc's.
 *
 * For programs with allocators of their own (arenas, pools, slabs, collectors), and for those that
 * want their profile to carry labels, phases and snapshots, or to write it themselves.
 *
 *     static heaptap_heap *heap;
 *
 *     heap = heaptap_heap_create("parser arena", 1);       once
 *     p = bump(arena, n);
 *     heaptap_alloc(heap, p, 1, n);                        at each allocation
 *     heaptap_reset(heap);                                 when all of it ends
 *
 * There is nothing to link. Without a recorder (`heaptap run`, a preloaded libheaptap.so, or a
 * libheaptap.a in a program that was started with HEAPTAP=1) each call is a load, a test and a
 * branch that is not taken, and does nothing. With one, an event is recorded with the stack that
 * called it, just like one of malloc.
 *
 * All of these may be called from any thread at any time, also by several threads for one heap and
 * in signal handlers. errno stays as it is, and none of them ever ends the program: what cannot be
 * recorded is counted as a loss, which every report shows. Strings are copied.
 *
 * It works in executables at fixed and at any addresses, static ones, shared objects and plug-ins,
 * in C from C89 on and in C++. Where there is no recorder, on other systems and processors than
 * Linux on x86-64 and with compilers that do not know GNU attributes, everything here does nothing.
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

/* A heap of the program's own. NULL is one of which nothing is recorded. It stays valid in children
 * made by fork. */
typedef struct heaptap_heap heaptap_heap;

/* The labels of a thread at one moment; 0 = none. */
typedef unsigned heaptap_labels;

/* What a recorder offers. Later versions append; `size` says how much there is. */
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

/* One pointer in each executable and shared object, for all its files. In a shared object the
 * dynamic linker fills it in. In an executable linkers may take an undefined weak symbol for 0, so
 * there the note tells the recorder where to write: at the place of its word plus what the word
 * says. Every file has a note, because linkers that throw away what nobody uses keep notes, but not
 * those that stand in a group. */
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

/* A new heap, shown under NAME; heaps of one name are shown as one, and making one for each request
 * costs next to nothing. Of the stacks of its events the innermost SKIP_FRAMES frames are left out:
 * those of the allocator's own functions, which must not be inlined then. About 1000 names of 127
 * bytes; others are shown as "other heaps". NULL without a recorder. */
HEAPTAP_API_ heaptap_heap *
heaptap_heap_create(const char *name, unsigned skip_frames)
{
    return HEAPTAP_ASK_(heap_create(name, skip_frames), NULL);
}

/* Everything live in HEAP ends, and so does it. */
HEAPTAP_API_ void
heaptap_heap_destroy(heaptap_heap *heap)
{
    HEAPTAP_CALL_(heap_destroy(heap));
}

/* COUNT objects of BYTES together were allocated at P. P may be NULL if they will not be freed one
 * by one: then only heaptap_reset and heaptap_heap_destroy end them. Any number below 2^47 will do,
 * an offset for instance: it only means something within HEAP. The recorder takes 8 to 16 bytes of
 * memory for each live object with an address, as far as heaptap_max_memory allows. Call this when
 * P is yours already, and heaptap_free while it still is. */
HEAPTAP_API_ void
heaptap_alloc(heaptap_heap *heap, const void *p, size_t count, size_t bytes)
{
    HEAPTAP_CALL_(alloc(heap, p, count, bytes));
}

/* What was allocated at OLD is now BYTES large and at P, which may be OLD. Counted as malloc's
 * realloc is: it leaves the place where it was allocated and enters this one. */
HEAPTAP_API_ void
heaptap_resize(heaptap_heap *heap, const void *old, const void *p, size_t bytes)
{
    HEAPTAP_CALL_(resize(heap, old, p, bytes));
}

/* What was allocated at P is freed. */
HEAPTAP_API_ void
heaptap_free(heaptap_heap *heap, const void *p)
{
    HEAPTAP_CALL_(release(heap, p));
}

/* Everything live in HEAP is freed; it goes on, empty. Takes as long as HEAP has stacks, however
 * many objects are live. */
HEAPTAP_API_ void
heaptap_reset(heaptap_heap *heap)
{
    HEAPTAP_CALL_(reset(heap));
}

/* HEAP makes its objects from the BYTES at P, from malloc or elsewhere. If they are malloc's, they
 * are no longer counted as allocated there but shown as backing HEAP, with how full it is: no byte
 * counts twice. To be called right after that allocation, by the same thread: then, in a program of
 * one thread, the chunk is no part of the peak either; among several it is one until this call. A
 * realloc makes them malloc's again. What comes from another heap of the program's own
 * is not known here: if one heap makes its chunks from another, tell heaptap of the objects of the
 * inner one only. */
HEAPTAP_API_ void
heaptap_backing(heaptap_heap *heap, const void *p, size_t bytes)
{
    HEAPTAP_CALL_(backing(heap, p, bytes));
}

/* P no longer backs HEAP. To be called before P is given back. If it is a block of malloc's it
 * counts as one again from then on; to free such a block, free alone will do. */
HEAPTAP_API_ void
heaptap_backing_end(heaptap_heap *heap, const void *p)
{
    HEAPTAP_CALL_(backing_end(heap, p));
}

/* --- Labels, phases, snapshots ---------------------------------------------------------------- */

/* From now on what this thread allocates, by malloc or from heaps, carries the label KEY=VALUE;
 * with a VALUE of NULL it has none of that KEY. A new thread has no labels, the child of a fork has
 * those of the thread that made it. At most 4094 different sets of 1024 bytes, and 2 MiB in all;
 * others are shown as one, "other", so do not label with what never repeats. A thread with such a
 * set keeps it until a label is taken away with NULL or other labels are put back. */
HEAPTAP_API_ void
heaptap_label(const char *key, const char *value)
{
    HEAPTAP_CALL_(label(key, value));
}

/* The labels that this thread has now, to be put back later or handed to another thread of this
 * process or its children. */
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

/* The program begins something: a name on the timeline that intervals can be asked for by. Names
 * are cut after 32 bytes. */
HEAPTAP_API_ void
heaptap_phase(const char *name)
{
    HEAPTAP_CALL_(phase(name));
}

/* Keep what every stack holds at this moment under NAME (`heaptap report --at NAME`), of which the
 * first 32 bytes count. */
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

/* Record from now on, or record nothing more. Frees and resets of what was recorded are always
 * seen. Heaps are recorded exactly, also where malloc is sampled. */
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

/* Limit the recorder's memory, its file included, to BYTES from now on. At the limit, known stacks
 * are still counted and new ones are charged to "other". Objects of heaps that find no
 * room are counted as allocated, but their frees are lost, which every report shows; only
 * heaptap_reset and heaptap_heap_destroy end them. 0 = no limit. */
HEAPTAP_API_ void
heaptap_max_memory(size_t bytes)
{
    HEAPTAP_CALL_(max_memory(bytes));
}

/* Write the profile as it is now to the descriptor FD, a file, a pipe or a socket; waits if it
 * must, and raises no SIGPIPE. FORMAT is "pprof" for the text that pprof reads (with the program
 * beside it, for the symbols), or "heaptap" for a profile that heaptap reads. 0, or -1 without a
 * recorder, under `heaptap run --reserve`, or if writing failed. */
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
