/* language.h: tell heaptap which functions of an interpreted language are running.
 *
 * For those who write an adapter: a small shared library that knows one runtime and is loaded into
 * its process beside the recorder. Where an interpreter runs, the C stack shows the interpreter's
 * own functions. The adapter says which functions of the program these stand for, and they become
 * frames of the recorded stacks, with a name, a file and a line.
 *
 *     unsigned id = heaptap_frame_name("handle", "server.lua", 17, "Lua");    told once
 *
 *     static size_t
 *     frames(struct heaptap_frame *to, size_t max)                      asked at each allocation
 *     {
 *         ... the functions that run in this thread now, innermost first ...
 *     }
 *
 *     static const struct heaptap_language lua = {sizeof lua, "Lua", frames, NULL};
 *     heaptap_language_add(&lua);
 *
 * Which C frame a frame of the language stands inside of is told by an address of the C stack:
 * anything that lies in the C frame of the interpreter's function that runs it. Nothing of what an
 * adapter says is remembered without asking again, so it needs to tell nobody when a function of
 * the language begins or ends. docs/internals/languages.md says how that is made exact and fast.
 *
 * What an adapter must keep to. Its functions are called inside malloc, in any thread, and in
 * signal handlers that may have interrupted the interpreter, or the adapter itself, anywhere. So
 * they must not allocate, take no lock, leave errno alone, and only read what the runtime has:
 * follow no more links than there is room for, and no pointer that may be damaged without asking
 * heaptap_can_read. What it cannot tell it leaves out; then the C frames are shown as they are.
 *
 * There is nothing to link, as with heaptap.h: without a recorder all of this does nothing. Objects
 * that a runtime makes from memory of its own are told of with heaptap_alloc and its like.
 *
 * Licence: MIT, as heaptap.h, which has its words.
 */
#ifndef HEAPTAP_LANGUAGE_H
#define HEAPTAP_LANGUAGE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function of the language that runs. */
struct heaptap_frame {
    /* An address in the C frame that it stands inside of, that of the interpreter's function which
     * runs it. 0: in the same one as the frame before, which it has called it; of the innermost, in
     * the innermost C frame. */
    unsigned long at;
    unsigned id;    /* From heaptap_frame_name. */
    unsigned extra; /* The adapter's own, for `place`; the same as long as nothing has changed. */
};

/* A C frame. Its own memory begins above `slot` and ends at the next frame's. */
struct heaptap_native {
    unsigned long slot; /* Of the word with the return address into it. 0 = not known. */
    unsigned long pc;   /* That return address. */
};

/* To be added to SKIP_FRAMES of heaptap_heap_create: a heap that lasts, as those of runtimes do. It
 * is never reset, which would be counted as a lost event, and only destroyed when nothing lives in
 * it. So nobody has to know what lives at each stack in this heap alone, and events cost less. */
#define HEAPTAP_LASTING 0x10000u

/* Together with that one: objects of this heap end when a collector finds them dead, so what views
 * call live is what was not reclaimed until then. heaptap_collected tells when that was. */
#define HEAPTAP_COLLECTED 0x20000u

/* What an adapter wants to remember of a C stack. */
enum { HEAPTAP_NOTES = 34 };

/* How many frames an adapter may tell that remembers what it has read. */
enum { HEAPTAP_FRAMES_MAX = 2048 };

struct heaptap_language {
    unsigned size;    /* sizeof(struct heaptap_language) */
    const char *name; /* "Lua" */
    /* The frames of the language that run in the calling thread, innermost first: puts at most MAX
     * of them to TO and returns how many there are, or that there are more than MAX. 0 = none. */
    size_t (*frames)(struct heaptap_frame *to, size_t max);
    /* May be NULL. Fill in `at` of FRAMES, which `frames` has just given, from the C frames, both
     * innermost first. Called when the answer to these has not been kept; it must follow from them
     * alone. */
    void (*place)(struct heaptap_frame *frames, size_t count, const struct heaptap_native *natives,
                  size_t native_count);
    /* For runtimes that can only tell from the C stack which functions run. May be NULL; it needs
     * `frames_again`, which is given the notes. It gets the C frames, innermost first, and puts
     * what it needs of them to NOTES, which are zeros at first; it is called again only when the C
     * frames or their places have changed. */
    void (*look)(const struct heaptap_native *natives, size_t native_count,
                 unsigned long notes[HEAPTAP_NOTES]);
    /* For runtimes that compile to machine code. May be NULL. The function of the language that the
     * C frame with the return address PC is, or 0; it must follow from PC alone. Where `frames` has
     * frames inside of that C frame, the outermost of them is this function, and has the name. */
    unsigned (*code)(unsigned long pc);
    /* May be NULL. The same as `place`, of the innermost FRAMES alone and with the innermost C
     * frames alone; returns whether each of the frames was found in one of these. For adapters that
     * go outwards: where a frame is must follow from itself, where the frame before is that it has
     * called, and the C frames from there on. Then the outer frames of a deep stack, of which
     * nothing has changed, are not placed again. */
    int (*place_inner)(struct heaptap_frame *frames, size_t count,
                       const struct heaptap_native *natives, size_t native_count);
    /* For adapters that remember what they have read. May be NULL; it is asked instead of `frames`,
     * which may be NULL then. Puts the frames before END, the outermost last, where there is room
     * for HEAPTAP_FRAMES_MAX; what the call before has put there, in the same thread, is still
     * there. RET_SAME says how many of the outermost ones are as they were then, so that nobody has
     * to look at them again. MEMO is MEMO_BYTES of the thread's own, zeros at first. NOTES are what
     * `look` has put there, or NULL without one. A signal handler may jump out of a call: the next
     * one must not rely on what that one has left. An answer of more than heaptap_frames_wanted()
     * frames needs only so many correct inner ones, and its RET_SAME is ignored. */
    size_t (*frames_again)(struct heaptap_frame *end, void *memo,
                           const unsigned long notes[HEAPTAP_NOTES], size_t *ret_same);
    size_t memo_bytes;
};

struct heaptap_heap; /* heaptap.h */

/* What a recorder offers. Later versions append; `size` says how much there is. */
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

/* From now on ask LANGUAGE, which stays where it is. 0, or -1 without a recorder or if there are
 * more languages than anyone runs (4). There is no way back. */
HEAPTAP_LANGUAGE_API_ int
heaptap_language_add(const struct heaptap_language *language)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->add(language) : -1;
}

/* The id of a frame: FUNCTION, which is at LINE (0 = not known) of FILE ("" = not known) in a
 * program of LANGUAGE. Equal ones have one id, which stays valid in children made by fork. Strings
 * are copied and cut after 1000 bytes. 0, which is shown as an unknown function, without a recorder
 * and when there is no more room: for 131,071 frames and 16 MiB of different strings. */
HEAPTAP_LANGUAGE_API_ unsigned
heaptap_frame_name(const char *function, const char *file, unsigned line, const char *language)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->name(function, file, line, language)
                                      : 0;
}

/* What lies in [START, END) is code of a runtime: its C frames are not shown in stacks with frames
 * of the language, unless one asks for them. 0, or -1 if there is no more room: for 64 ranges. */
HEAPTAP_LANGUAGE_API_ int
heaptap_runtime_code(const void *start, const void *end)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->runtime(start, end) : -1;
}

/* Can BYTES at P be read now? Asks the kernel once for each page. */
HEAPTAP_LANGUAGE_API_ int
heaptap_can_read(const void *p, size_t bytes)
{
    return HEAPTAP_LANGUAGES_ != NULL && HEAPTAP_LANGUAGES_->can_read(p, bytes);
}

/* Where the C function begins that PC, an address of an instruction, is in, by its unwind entry;
 * NULL if it has none. Takes some time: not for each allocation. */
HEAPTAP_LANGUAGE_API_ const void *
heaptap_function_of(const void *pc)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->function_of(pc) : NULL;
}

/* And where it ends. */
HEAPTAP_LANGUAGE_API_ const void *
heaptap_function_end(const void *pc)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->function_end(pc) : NULL;
}

/* Is what is recorded now in this thread, by asking you, the end of a realloc? Then the block was
 * at *FROM, where it can no longer be read, and is at *TO, another place. The runtime has not heard
 * of that yet: pointers into the block that it still has are to be moved. Returns how many bytes
 * the block had; (size_t)-1 if that is not known, 0 if nothing is moved. */
HEAPTAP_LANGUAGE_API_ size_t
heaptap_moved(const void **from, const void **to)
{
    return HEAPTAP_LANGUAGES_ != NULL ? HEAPTAP_LANGUAGES_->moved(from, to) : 0;
}

/* A collection is over: what HEAPS, COUNT of them, held dead was freed. NULL is none. Returns how
 * many collections this process has been told of; 0 without a recorder. */
HEAPTAP_LANGUAGE_API_ unsigned long
heaptap_collected(struct heaptap_heap *const *heaps, size_t count)
{
    return HEAPTAP_LANGUAGES_ != NULL &&
                   HEAPTAP_LANGUAGES_->size >= offsetof(struct heaptap_languages, frames_wanted)
               ? HEAPTAP_LANGUAGES_->collected(heaps, count)
               : 0;
}

/* Return how many inner frames of a stack the recorder reads. It ignores the frames outside of
 * these, but not whether there are any. Constant once an adapter has been asked; async-signal-safe.
 * 0 without a recorder. */
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
