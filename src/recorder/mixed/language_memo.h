/* language_memo.h: a thread's state for calling language adapters and caching their answers.
 *
 * language_frames.c calls adapters and caches answers, language_natives.c supplies the C frames,
 * and language_path.c builds a path from both. */
#ifndef MIXED_LANGUAGE_MEMO_H
#define MIXED_LANGUAGE_MEMO_H

#include "account/thread.h"
#include "heaptap/language.h"
#include "mixed/language_adapters.h"
#include "stack/stack_state.h"

enum {
    LANGUAGE_KEPT = 256,       // Number of cached answers with their nodes, a power of two.
    LANGUAGE_KEPT_FRAMES = 61, // Number of innermost frames that each of them has room for.
    LANGUAGE_NOTED = 256,      // A power of two.
    LANGUAGE_DEEP = 16,        // A power of two.
};

/* Key of a cached node, its target and the length of its answer; and the node. */
struct language_found {
    uint32_t stamp; // Stamp of the target; 0 = unused.
    uint32_t node;
    uint64_t version; // Version of the memo.
    uint32_t *sites;  // Sites of the target.
    uint32_t count;
};

/* A cached answer with its node. */
struct language_kept {
    struct language_found found;
    uint64_t serial; // Serial number of the latest answer equal to this one; 0 = none.
    struct heaptap_frame frames[LANGUAGE_KEPT_FRAMES];
};

/* A longer cached answer without serial numbers, with all frames that were read. */
struct language_deep {
    struct language_found found;
    struct heaptap_frame frames[LIMIT_DEPTH];
};

/* The answer of a language that reports unchanged outer frames. Frames are numbered from the
 * outermost, 1, on; frame number N is N frames before the end. */
struct language_said {
    uint64_t serial; // Incremented with each answer that differs from the previous one.
    bool is_whole;   // False if a handler has jumped out of the call.
    uint32_t count;
    uint64_t since[HEAPTAP_FRAMES_MAX + 1]; // By frame number: serial number of the answer that
                                            // last changed it.
    struct heaptap_frame frames[HEAPTAP_FRAMES_MAX];
    uint64_t memo[]; // The adapter's memo.
};

/* Notes of the adapters about a C stack. */
struct language_noted {
    uint32_t stamp; // Stamp of the target; 0 = unused.
    uint64_t version;
    uint32_t *sites;
    unsigned long notes[LANGUAGES][HEAPTAP_NOTES];
};

/* Facts about a C frame that are hidden from adapters. */
struct native_facts {
    uint64_t frame; // As in the frame's node.
    uint32_t flags; // As in the frame's node.
    uint32_t code;  // Id of the compiled function that runs in the frame; 0 = none.
};

/* The merged path from its outermost frame to a C frame and the language frames inside that one. */
struct language_spine {
    uint32_t node;
    uint32_t asked;  // Number of language frames in the path.
    uint32_t frames; // Number of frames of both kinds in the path.
};

/* A thread's state for languages. C frames are numbered from the outermost, 1, on, as in the
 * memo. */
struct language_memo {
    const struct heaptap_frame *asked; // The answer, in a struct language_said or in `answer`.
    struct heaptap_frame answer[LIMIT_DEPTH + 1];
    struct language_said *said[LANGUAGES];
    const struct language_said *only; // Source of the answer if the answer has serial numbers, else
                                      // NULL.
    struct heaptap_frame placed[LIMIT_DEPTH + 1]; // The answer, with addresses filled in.
    uint32_t inside[LIMIT_DEPTH + 1]; // By placed frame: number of the C frame that contains it.
    uint32_t ends[LANGUAGES];         // By language: end of its frames in the answer.
    // C frame number N is at LIMIT_DEPTH - N: innermost first, so outer frames keep their places.
    struct heaptap_native natives[LIMIT_DEPTH];
    struct native_facts facts[LIMIT_DEPTH];
    uint32_t native_count;
    uint32_t natives_same; // Number of outermost C frames known to equal the memo's.
    uint32_t root;         // Parent node of the outermost C frame.
    // Entries for the memo's frames [spine_first, spine_count]; earlier ones were cut. Entry 0 is
    // the root.
    struct language_spine spine[LIMIT_DEPTH + 1];
    uint32_t spine_first, spine_count;
    // Language frames of the spine, outermost first: after placing, and as the adapter returned
    // them.
    struct heaptap_frame spine_asked[LIMIT_DEPTH + 1];
    struct heaptap_frame spine_raw[LIMIT_DEPTH + 1];
    uint32_t spine_same; // Lower bound of the outermost language frames that equal those in `only`.
    struct language_kept kept[LANGUAGE_KEPT];
    struct language_kept *latest; // An element of `kept`.
    struct language_deep deep[LANGUAGE_DEEP];
    struct language_noted noted[LANGUAGE_NOTED];
    struct language_noted uncached; // For stacks without a stamp; never reused.
};

/* Return C frame NUMBER in the form for adapters. */
static inline struct heaptap_native *
language_native_at(struct language_memo *m, uint32_t number)
{
    return &m->natives[LIMIT_DEPTH - number];
}

/* Return the facts about C frame NUMBER that adapters do not get. */
static inline struct native_facts *
language_facts_at(struct language_memo *m, uint32_t number)
{
    return &m->facts[LIMIT_DEPTH - number];
}

/* Return true if COUNT frames are equal. Compares by words: inputs are short, and each event
 * compares them. */
static inline bool
language_are_same(const struct heaptap_frame *a, const struct heaptap_frame *b, uint32_t count)
{
    const uint64_t *x = (const uint64_t *)(const void *)a, *y = (const uint64_t *)(const void *)b;
    uint64_t different = 0;

    static_assert(sizeof *a == 2 * sizeof *x, "the loop");
    for (uint32_t i = 0; i < count; i++)
        different |= (x[2 * i] ^ y[2 * i]) | (x[2 * i + 1] ^ y[2 * i + 1]);
    return different == 0;
}

/* Return true if COUNT frames are equal. Optimised for many frames, most of them equal. */
static inline bool
language_are_all_same(const struct heaptap_frame *a, const struct heaptap_frame *b, uint32_t count)
{
    typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias));
    enum { ROW = 8 };
    const pair *x = (const pair *)(const void *)a, *y = (const pair *)(const void *)b;
    uint32_t i = 0;

    static_assert(sizeof *a == sizeof *x, "the loop");
    for (; i + ROW <= count; i += ROW, x += ROW, y += ROW) {
        pair even = (x[0] ^ y[0]) | (x[2] ^ y[2]) | (x[4] ^ y[4]) | (x[6] ^ y[6]);
        pair odd = (x[1] ^ y[1]) | (x[3] ^ y[3]) | (x[5] ^ y[5]) | (x[7] ^ y[7]);

        even |= odd;
        if (unlikely((even[0] | even[1]) != 0))
            return false;
    }
    return language_are_same(a + i, b + i, count - i);
}

/* Return the number of inner frames of an answer to read: one more than a path has, if there is
 * room. */
static inline uint32_t
language_frames_wanted(void)
{
    return stack_state()->depth_max < LIMIT_DEPTH ? stack_state()->depth_max + 1 : LIMIT_DEPTH;
}

#endif
