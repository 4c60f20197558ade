/* language.h: report which functions of an interpreted language are running.
 *
 * For authors of an adapter: a small shared library for one runtime that is loaded into the
 * runtime's process beside the recorder. While an interpreter runs, the C stack shows the
 * interpreter's functions. The adapter returns the functions of the program that they execute.
 * These become frames of the recorded stacks, with a name, a file and a line.
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
 * An address of the C stack assigns a frame of the language to a C frame: any address in the C
 * frame of the interpreter's function that executes it. The recorder never reuses a frame without
 * calling the adapter again, so the adapter need not report when a function of the language begins
 * or ends. docs/internals/languages.md explains how that is exact and fast.
 *
 * Rules for an adapter. Its functions are called inside malloc, in any thread, and in signal
 * handlers that may have interrupted the interpreter, or the adapter itself, at any instruction. So
 * they must not allocate, must take no lock, must leave errno alone, and must only read the
 * runtime's data. They must bound the number of links that they follow, and check a pointer that
 * may be damaged with heaptap_can_read. A frame that the adapter cannot determine is left out; then
 * reports show the C frames.
 *
 * A header suffices, as with heaptap.h: there is no library to link, and without a recorder all of
 * this does nothing. Report objects that a runtime makes from its own memory with heaptap_alloc and
 * related functions.
 *
 * Licence: MIT, with the text in heaptap.h. */
#ifndef HEAPTAP_LANGUAGE_H
#define HEAPTAP_LANGUAGE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A running function of the language. */
struct heaptap_frame {
    /* An address in the C frame of the interpreter's function that executes it. 0: in the same C
     * frame as the frame before, its callee; for the innermost frame, in the innermost C frame. */
    unsigned long at;
    unsigned id;    /* From heaptap_frame_name. */
    unsigned extra; /* For the adapter's `place`; constant while the frame has not changed. */
};

/* A C frame. Its memory begins above `slot` and ends at the slot of the next outer frame. */
struct heaptap_native {
    unsigned long slot; /* Address of the word with the return address into it. 0 = not known. */
    unsigned long pc;   /* That return address. */
};

/* Add this to SKIP_FRAMES of heaptap_heap_create for a heap that is never reset, like the heaps of
 * runtimes. A reset is counted as a lost event. Destroy the heap only when nothing lives in it. The
 * recorder then keeps no live values per stack for this heap, so events cost less. */
#define HEAPTAP_LASTING 0x10000u

/* Add this as well if a collector ends the objects of the heap when it finds them dead. Reports
 * then call an object live until it is reclaimed. Call heaptap_collected after each collection. */
#define HEAPTAP_COLLECTED 0x20000u

/* Words of notes that an adapter may keep about a C stack. */
enum { HEAPTAP_NOTES = 34 };

/* Maximum number of frames of an adapter that caches its frames (`frames_again`). */
enum { HEAPTAP_FRAMES_MAX = 2048 };

struct heaptap_language {
    unsigned size;    /* sizeof(struct heaptap_language) */
    const char *name; /* "Lua" */
    /* Store the frames of the language that run in the calling thread in TO, innermost first, MAX
     * at most. Return the number of frames, 0 = none; if there are more than MAX, a number above
     * MAX. May be NULL if `frames_again` is not. */
    size_t (*frames)(struct heaptap_frame *to, size_t max);
    /* May be NULL. Fill in `at` of FRAMES, which `frames` has just returned, from the C frames;
     * both are innermost first. Called only when the recorder has no cached result, so the result
     * must depend on the arguments alone. */
    void (*place)(struct heaptap_frame *frames, size_t count, const struct heaptap_native *natives,
                  size_t native_count);
    /* May be NULL; requires `frames_again`, which gets the notes. For runtimes whose running
     * functions can only be found from the C stack. Gets the C frames, innermost first, and stores
     * in NOTES, which are zeros at first, the facts that `frames_again` needs. Called again only
     * when the C frames or their addresses have changed. */
    void (*look)(const struct heaptap_native *natives, size_t native_count,
                 unsigned long notes[HEAPTAP_NOTES]);
    /* May be NULL. For runtimes that compile to machine code. Return the id of the language's
     * function that the C frame with the return address PC executes, or 0. The result must depend
     * on PC alone. If `frames` has frames inside that C frame, the outermost of them is this
     * function, and supplies the name. */
    unsigned (*code)(unsigned long pc);
    /* May be NULL. Like `place`, for the innermost COUNT frames and the innermost C frames alone.
     * Return whether each of the frames was found in one of these. For adapters that search
     * outwards: the address of a frame must depend only on the frame itself, on the address of its
     * callee, and on the C frames from there outwards. Then the unchanged outer frames of a deep
     * stack are not placed again. */
    int (*place_inner)(struct heaptap_frame *frames, size_t count,
                       const struct heaptap_native *natives, size_t native_count);
    /* May be NULL. For adapters that cache the frames that they have read; called instead of
     * `frames`, which may be NULL then. Store the frames just before END, the outermost last. There
     * is room for HEAPTAP_FRAMES_MAX frames, and the result of the thread's previous call is still
     * there. Return the number of frames. Set *RET_SAME to how many of the outermost frames are the
     * same as after that call, so that the recorder need not compare them. MEMO is MEMO_BYTES of
     * memory for this thread, zeros at first. NOTES are the notes of `look`, or NULL without one. A
     * signal handler may jump out of a call, so the next call must not rely on that call's results.
     * An answer of more than heaptap_frames_wanted() frames needs only so many correct inner ones,
     * and its *RET_SAME is ignored. */
    size_t (*frames_again)(struct heaptap_frame *end, void *memo,
                           const unsigned long notes[HEAPTAP_NOTES], size_t *ret_same);
    size_t memo_bytes;
};

struct heaptap_heap; /* heaptap.h */

/* The functions of a recorder. Later versions append functions; `size` shows which exist. */
struct heaptap_languages {
    unsigned version; /* 1 */
    unsigned size;    /* sizeof(struct heaptap_languages) of the recorder's */
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

/* Register LANGUAGE, which must stay at its address: the recorder calls it from now on. Return 0;
 * or -1 without a recorder, if LANGUAGE is invalid, or if 4 languages are registered already.
 * Cannot be undone. */
HEAPTAP_LANGUAGE_API_ int
heaptap_language_add(const struct heaptap_language *language)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->add(language) : -1;
}

/* Return the id of a frame: FUNCTION, at LINE (0 = not known) of FILE ("" = not known) in a program
 * of LANGUAGE. Equal arguments give the same id, which stays valid in children made by fork.
 * Strings are copied and cut after 1000 bytes. Return 0, which is shown as an unknown function,
 * without a recorder, or when there is no room: for 131,071 frames and 16 MiB of different
 * strings. */
HEAPTAP_LANGUAGE_API_ unsigned
heaptap_frame_name(const char *function, const char *file, unsigned line, const char *language)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->name(function, file, line, language)
                                      : 0;
}

/* Register [START, END) as code of a runtime. Reports hide its C frames in stacks with frames of
 * the language, unless the user requests them. Return 0; or -1 without a recorder, or if 64 ranges
 * are registered already. */
HEAPTAP_LANGUAGE_API_ int
heaptap_runtime_code(const void *start, const void *end)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->runtime(start, end) : -1;
}

/* Return nonzero if BYTES at P can be read now, 0 otherwise or without a recorder. Makes a system
 * call for each page. */
HEAPTAP_LANGUAGE_API_ int
heaptap_can_read(const void *p, size_t bytes)
{
    return HEAPTAP_LANGUAGES_ != NULL && HEAPTAP_LANGUAGES_->can_read(p, bytes);
}

/* Return the first address of the C function that contains PC, the address of an instruction, by
 * its unwind entry; NULL if it has none, or without a recorder. Too slow for a call at each
 * allocation. */
HEAPTAP_LANGUAGE_API_ const void *
heaptap_function_of(const void *pc)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->function_of(pc) : NULL;
}

/* Like heaptap_function_of, but return the end of that function. */
HEAPTAP_LANGUAGE_API_ const void *
heaptap_function_end(const void *pc)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->function_end(pc) : NULL;
}

/* For use inside an adapter's callback. If the event being recorded in this thread is the end of a
 * realloc that moved the block, set *FROM to the block's old address, which can no longer be read,
 * and *TO to the new one. The runtime does not have the new address yet, so the adapter must
 * translate the runtime's pointers into the block. Return the size of the block in bytes;
 * (size_t)-1 if that is not known, 0 if no block has moved. */
HEAPTAP_LANGUAGE_API_ size_t
heaptap_moved(const void **from, const void **to)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->moved(from, to) : 0;
}

/* Record that a collection has ended, which freed the dead objects of the COUNT heaps at HEAPS. An
 * element that is NULL is ignored. Return the number of collections reported in this process so
 * far; 0 without a recorder. */
HEAPTAP_LANGUAGE_API_ unsigned long
heaptap_collected(struct heaptap_heap *const *heaps, size_t count)
{
    return HEAPTAP_LANGUAGES_ != NULL &&
                   HEAPTAP_LANGUAGES_->size >= offsetof(struct heaptap_languages, frames_wanted)
               ? HEAPTAP_LANGUAGES_->collected(heaps, count)
               : 0;
}

/* Return how many inner frames of a stack the recorder reads. It ignores frames further out, but
 * not whether there are any. Constant once an adapter has been called; async-signal-safe. Return 0
 * without a recorder. */
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
