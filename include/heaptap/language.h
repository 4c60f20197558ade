/* language.h: add the running functions of an interpreted language to recorded stacks.
 *
 * This header is for authors of adapters. An adapter is a small shared library for one runtime,
 * loaded into the runtime's process beside the recorder. While a program is interpreted, the C
 * stack shows only the interpreter's functions. The adapter returns the program's functions, and
 * the recorder inserts them into its stacks as frames with a name, a file and a line.
 *
 *     unsigned id = heaptap_frame_name("handle", "server.lua", 17, "Lua");    once
 *
 *     static size_t
 *     frames(struct heaptap_frame *to, size_t max)                      called at each allocation
 *     {
 *         ... the functions that run in this thread now, innermost first ...
 *     }
 *
 *     static const struct heaptap_language lua = {sizeof lua, "Lua", frames, NULL};
 *     heaptap_language_add(&lua);
 *
 * Each frame of the language belongs to the C frame of the interpreter's function that executes it.
 * The adapter identifies that C frame by any address inside it. The recorder calls the adapter
 * before each use of a frame, so the adapter need not report when a function of the language begins
 * or ends. docs/internals/languages.md explains why that is exact and fast.
 *
 * The recorder calls an adapter's functions inside malloc, in any thread, and in signal handlers. A
 * handler may have interrupted the interpreter, or the adapter itself, at any instruction.
 * Therefore these functions must not allocate, take a lock, change errno or write the runtime's
 * data. They must bound the number of links that they follow, and check a pointer that may be
 * damaged with heaptap_can_read. They leave out frames that they cannot determine; reports then
 * show the C frames.
 *
 * A header suffices, as for heaptap.h: there is no library to link, and without a recorder every
 * function does nothing. Objects that the runtime makes from larger chunks of memory are reported
 * with heaptap_alloc and related functions.
 *
 * Licence: MIT, with the text in heaptap.h. */
#ifndef HEAPTAP_LANGUAGE_H
#define HEAPTAP_LANGUAGE_H

#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A running function of the language. */
struct heaptap_frame {
    /* Any address in the C frame of the interpreter's function that executes this frame. 0 = the C
     * frame of the entry before, which is this frame's callee; for the innermost frame, the
     * innermost C frame, which is the allocating function. So 0 in all entries puts the frames of
     * the language inside of all C frames, even of a C function that the program called. */
    unsigned long at;
    unsigned id;    /* Id from heaptap_frame_name. */
    unsigned extra; /* Data for `place`; constant while the frame is unchanged. */
};

/* A C frame. Its memory extends from above `slot` to the slot of the next outer frame. */
struct heaptap_native {
    unsigned long slot; /* Address of the word that holds the return address into this frame; 0 =
                         * not known. */
    unsigned long pc;   /* The return address itself. */
};

/* Flag to add to SKIP_FRAMES of heaptap_heap_create for a heap that is never reset, such as a
 * runtime's. The recorder then keeps no live values per stack for the heap, which makes events
 * cheaper. A reset is counted as a lost event. Destroy the heap only when nothing is live in it. */
#define HEAPTAP_LASTING 0x10000u

/* Flag to add to HEAPTAP_LASTING if a collector ends the heap's objects when it finds them dead.
 * Reports then call an object live until it is reclaimed. Call heaptap_collected after each
 * collection. */
#define HEAPTAP_COLLECTED 0x20000u

/* Flag to add to HEAPTAP_LASTING if objects lie side by side, as in an allocator that divides each
 * page into objects of one size. The recorder then stores all addresses in a table for dense
 * objects, which makes events cheaper. The table takes up to half as much memory as the pages, even
 * if they have few objects. */
#define HEAPTAP_DENSE 0x40000u

/* Size of an adapter's notes about a C stack, in words (`look`). */
enum { HEAPTAP_NOTES = 34 };

/* Maximum number of frames of an adapter that caches its frames (`frames_again`). */
enum { HEAPTAP_FRAMES_MAX = 2048 };

struct heaptap_language {
    unsigned size;    /* sizeof(struct heaptap_language) */
    const char *name; /* Name of the language, such as "Lua". */
    /* Store the calling thread's running frames in TO, innermost first, MAX at most. Return the
     * number of frames, 0 = none; any number above MAX if there are more. May be NULL if
     * `frames_again` is present. */
    size_t (*frames)(struct heaptap_frame *to, size_t max);
    /* Fill in `at` of FRAMES, the result of `frames`, from the C frames NATIVES; both are
     * innermost first. The recorder caches the result, so it must depend on the arguments alone.
     * May be NULL. */
    void (*place)(struct heaptap_frame *frames, size_t count, const struct heaptap_native *natives,
                  size_t native_count);
    /* Extract from the C frames NATIVES, innermost first, the facts that `frames_again` needs, and
     * store them in NOTES, which are all zero before. This is for runtimes whose running functions
     * can only be found from the C stack. Called again only when the C frames or their addresses
     * have changed. Such a runtime has no frames where no C frame is in its code
     * (heaptap_runtime_code), so the recorder need not ask the adapter there again. May be NULL;
     * requires `frames_again`, which is passed the notes. */
    void (*look)(const struct heaptap_native *natives, size_t native_count,
                 unsigned long notes[HEAPTAP_NOTES]);
    /* Return the id of the language's function that is executing in the C frame with the return
     * address PC; 0 = none. This is for runtimes that compile to machine code. The result must
     * depend on PC alone. If `frames` returned frames inside that C frame, the outermost of them is
     * the same function, and its name is used. May be NULL. */
    unsigned (*code)(unsigned long pc);
    /* Like `place`, given only the innermost COUNT frames and the innermost C frames. Return
     * nonzero if these C frames include one for every frame. The recorder then does not place the
     * unchanged outer frames of a deep stack again. This is for adapters that search outwards: a
     * frame's address must depend only on the frame, on its callee's address, and on the C frames
     * from there outwards. May be NULL. */
    int (*place_inner)(struct heaptap_frame *frames, size_t count,
                       const struct heaptap_native *natives, size_t native_count);
    /* Like `frames`, for adapters that cache the frames that they have read; called instead of
     * `frames`. Store the frames just before END, the outermost last; there is room for
     * HEAPTAP_FRAMES_MAX. Return the number of frames.
     *
     * The result of the thread's previous call is still before END. Set *RET_SAME to the number of
     * outermost frames that equal that result, so that the recorder need not compare them. A signal
     * handler may jump out of a call, so the next call must not rely on the results of the
     * interrupted one. If the number returned exceeds heaptap_frames_wanted(), only that many inner
     * frames need be correct. The other frames may come from an earlier result, and the runtime
     * may have frames outside the outermost one. *RET_SAME counts from the outermost frame of the
     * result in any case.
     *
     * MEMO points to MEMO_BYTES of memory for this thread, all zero at first. NOTES are the notes
     * of `look`, or NULL without `look`. May be NULL. */
    size_t (*frames_again)(struct heaptap_frame *end, void *memo,
                           const unsigned long notes[HEAPTAP_NOTES], size_t *ret_same);
    size_t memo_bytes;
    /* Nonzero if a thread has frames of the language only while a C frame on its stack is in the
     * runtime's code (heaptap_runtime_code). The recorder then stops asking the adapter about a
     * stack without such C frames, once the adapter had no frames there, so a program pays nothing
     * for an idle interpreter. Register the code before the language. Implied by `look`; without
     * effect with `code`. */
    int only_in_code;
};

struct heaptap_heap; /* A heap of the program (heaptap.h). */

/* Function table of a recorder. Later versions append members; `size` shows which exist. */
struct heaptap_languages {
    unsigned version; /* Version of the table: 1. */
    unsigned size;    /* sizeof(struct heaptap_languages) in the recorder */
    int (*add)(const struct heaptap_language *language);
    unsigned (*name)(const char *function, const char *file, unsigned line, const char *language);
    int (*runtime)(const void *start, const void *end);
    int (*can_read)(const void *p, size_t bytes);
    const void *(*function_of)(const void *pc);
    const void *(*function_end)(const void *pc);
    size_t (*moved)(const void **from, const void **to);
    unsigned long (*collected)(struct heaptap_heap *const *heaps, size_t count);
    size_t (*frames_wanted)(void);
};

#if defined(HEAPTAP_IS_RECORDER)

extern const struct heaptap_languages heaptap_languages_v1;

#else

#if defined(__GNUC__) && defined(__ELF__) && defined(__x86_64__) && defined(__LP64__)
extern const struct heaptap_languages heaptap_languages_v1
    __attribute__((weak, visibility("default")));
#define HEAPTAP_LANGUAGES_ (&heaptap_languages_v1)
#else
#define HEAPTAP_LANGUAGES_ ((const struct heaptap_languages *)0)
#endif

#if defined(__GNUC__)
#define HEAPTAP_LANGUAGE_API_ static __inline__ __attribute__((unused))
#else
#define HEAPTAP_LANGUAGE_API_ static
#endif

/* Register LANGUAGE permanently. The recorder calls its functions from then on, so it must stay at
 * its address. Return 0; or -1 without a recorder, if LANGUAGE is invalid, or if 4 languages are
 * registered already. */
HEAPTAP_LANGUAGE_API_ int
heaptap_language_add(const struct heaptap_language *language)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->add(language) : -1;
}

/* Return the id of a frame: FUNCTION, at LINE (0 = not known) of FILE ("" = not known), in a
 * program of LANGUAGE. Equal arguments return equal ids. An id stays valid in children made by
 * fork. Strings are copied and cut after 1000 bytes. Return 0, shown as an unknown function,
 * without a recorder or when the table is full: it has room for 131,071 frames and 16 MiB of
 * different strings. Thread-safe and async-signal-safe, so adapters may call it inside `frames`,
 * `frames_again` and `code`. It reads all strings, which takes some 300 ns. */
HEAPTAP_LANGUAGE_API_ unsigned
heaptap_frame_name(const char *function, const char *file, unsigned line, const char *language)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->name(function, file, line, language)
                                      : 0;
}

struct heaptap_cached_name {
    volatile unsigned version; /* 0 = empty, odd = being written */
    unsigned line, id;
    const char *language; /* Compared by address. */
    char function[48], file[80];
};

/* A thread's cache of ids from heaptap_frame_name; all zero at first. An adapter declares it as a
 * static thread-local variable. */
struct heaptap_name_cache {
    struct heaptap_cached_name names[64];
};

#if defined(__GNUC__)
#define HEAPTAP_COMPILER_BARRIER_ __asm__ volatile("" ::: "memory")
#else
#define HEAPTAP_COMPILER_BARRIER_ ((void)0)
#endif

/* Return heaptap_frame_name(FUNCTION, FILE, LINE, LANGUAGE), from CACHE if the id is there. The
 * strings are compared, so the result is right even if the runtime has unloaded a function and put
 * another one at its address. Longer strings than the cache has room for are not cached.
 * Async-signal-safe; a handler that jumps out of it costs one entry. */
HEAPTAP_LANGUAGE_API_ unsigned
heaptap_frame_name_cached(struct heaptap_name_cache *cache, const char *function, const char *file,
                          unsigned line, const char *language)
{
    size_t function_bytes = strlen(function) + 1, file_bytes = strlen(file) + 1;
    size_t index = function_bytes + 5 * file_bytes + 7 * (size_t)line +
                   (unsigned char)function[0] + 3 * (unsigned char)function[function_bytes / 2];
    struct heaptap_cached_name *n = &cache->names[index % 64];
    unsigned version = n->version, id;

    if (version != 0 && version % 2 == 0 && n->line == line && n->language == language &&
        strcmp(n->function, function) == 0 && strcmp(n->file, file) == 0) {
        id = n->id;
        HEAPTAP_COMPILER_BARRIER_;
        if (n->version == version) /* Otherwise a handler has replaced the entry. */
            return id;
    }
    id = heaptap_frame_name(function, file, line, language);
    if (id == 0 || version % 2 != 0 || function_bytes > sizeof n->function ||
        file_bytes > sizeof n->file)
        return id;
    n->version = version + 1; /* A handler that interrupts the next lines keeps off the entry. */
    HEAPTAP_COMPILER_BARRIER_;
    memcpy(n->function, function, function_bytes);
    memcpy(n->file, file, file_bytes);
    n->line = line;
    n->language = language;
    n->id = id;
    HEAPTAP_COMPILER_BARRIER_;
    n->version = version + 2;
    return id;
}

/* Register the machine code in [START, END) as a runtime's. In stacks with frames of the language,
 * reports hide the C frames of this code, unless the user requests them. Return 0; or -1 without a
 * recorder, or if 64 ranges are registered already. */
HEAPTAP_LANGUAGE_API_ int
heaptap_runtime_code(const void *start, const void *end)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->runtime(start, end) : -1;
}

/* Return nonzero if all BYTES at P are readable at this moment; 0 otherwise or without a recorder.
 * Makes one system call per page. */
HEAPTAP_LANGUAGE_API_ int
heaptap_can_read(const void *p, size_t bytes)
{
    return HEAPTAP_LANGUAGES_ != NULL && HEAPTAP_LANGUAGES_->can_read(p, bytes);
}

/* Return the start of the C function that contains the instruction at PC, according to its unwind
 * entry. Return NULL if there is no such entry, or without a recorder. Too slow to call at each
 * allocation. */
HEAPTAP_LANGUAGE_API_ const void *
heaptap_function_of(const void *pc)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->function_of(pc) : NULL;
}

/* Return the end of the C function that contains the instruction at PC, under the conditions of
 * heaptap_function_of. */
HEAPTAP_LANGUAGE_API_ const void *
heaptap_function_end(const void *pc)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->function_end(pc) : NULL;
}

/* Return the size in bytes of the block that the current event has moved; (size_t)-1 if the size is
 * not known, 0 if no block has moved. A block has moved if the event being recorded in this thread
 * is the end of a realloc that changed its address. For use inside an adapter's callback.
 *
 * Set *FROM to the block's old address, which is no longer readable, and *TO to its new address.
 * The runtime still holds the old address, so the adapter must translate the runtime's pointers
 * into the block. */
HEAPTAP_LANGUAGE_API_ size_t
heaptap_moved(const void **from, const void **to)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->moved(from, to) : 0;
}

/* Record the end of a collection, which freed the dead objects of the COUNT heaps at HEAPS. NULL
 * elements are ignored. Return the number of collections reported so far in this process; 0 without
 * a recorder. */
HEAPTAP_LANGUAGE_API_ unsigned long
heaptap_collected(struct heaptap_heap *const *heaps, size_t count)
{
    return HEAPTAP_LANGUAGES_ != NULL &&
                   HEAPTAP_LANGUAGES_->size >= offsetof(struct heaptap_languages, frames_wanted)
               ? HEAPTAP_LANGUAGES_->collected(heaps, count)
               : 0;
}

/* Return the number of inner frames of a stack that the recorder reads; 0 without a recorder. For
 * frames further out, it only distinguishes none from some. The value is constant once an adapter
 * has been called. Async-signal-safe. */
HEAPTAP_LANGUAGE_API_ size_t
heaptap_frames_wanted(void)
{
    return HEAPTAP_LANGUAGES_ != NULL && HEAPTAP_LANGUAGES_->size >= sizeof heaptap_languages_v1
               ? HEAPTAP_LANGUAGES_->frames_wanted()
               : 0;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
