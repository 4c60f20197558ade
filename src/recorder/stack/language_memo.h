/* language_memo.h: what a thread needs to ask adapters for languages and to remember answers.
 *
 * language_frames.c asks and keeps what was answered, language_natives.c has the C frames, and
 * language_path.c makes a path of both. */
#ifndef STACK_LANGUAGE_MEMO_H
#define STACK_LANGUAGE_MEMO_H

#include "account/thread.h"
#include "heaptap/language.h"
#include "stack/language_adapters.h"

enum {
    LANGUAGE_KEPT = 256,       // Answers with their nodes, a power of two;
    LANGUAGE_KEPT_FRAMES = 61, // so many of their frames, from the innermost on.
    LANGUAGE_NOTED = 256,      // A power of two.
    LANGUAGE_DEEP = 16,        // A power of two.
};

/* The target and the length of an answer, and the node of both. */
struct language_found {
    uint32_t stamp; // Of the target; 0 = unused.
    uint32_t node;
    uint64_t version; // Of the memo.
    uint32_t *sites;  // Of the target.
    uint32_t count;
};

/* An answer with its node. */
struct language_kept {
    struct language_found found;
    uint64_t serial; // Of an answer that was this one.
    struct heaptap_frame frames[LANGUAGE_KEPT_FRAMES];
};

/* An answer without numbers that has more frames, with all that were read. */
struct language_deep {
    struct language_found found;
    struct heaptap_frame frames[LIMIT_DEPTH];
};

/* The answers of a language that says which outer frames are as before. They are counted from the
 * outermost, 1, on, and number N ends at N frames before the end. */
struct language_said {
    uint64_t serial; // Of the latest one.
    bool is_whole;   // No handler has jumped out of it.
    uint32_t count;
    uint64_t since[HEAPTAP_FRAMES_MAX + 1]; // By number: the answer since which it is the same.
    struct heaptap_frame frames[HEAPTAP_FRAMES_MAX];
    uint64_t memo[]; // The adapter's.
};

/* What adapters have noted of a C stack. */
struct language_noted {
    uint32_t stamp; // Of the target; 0 = unused.
    uint64_t version;
    uint32_t *sites;
    unsigned long notes[LANGUAGES][HEAPTAP_NOTES];
};

/* A C frame besides what adapters see of it. */
struct native_facts {
    uint64_t frame; // Of its node,
    uint32_t flags; // and its flags.
    uint32_t code;  // The id of the compiled function that it is; 0 = none.
};

/* The merged path from its outermost frame to a C frame with all that stands inside of it. */
struct language_spine {
    uint32_t node;
    uint32_t asked;  // So many of the asked frames, from the outermost on, are in it.
    uint32_t frames; // Of both kinds.
};

/* What a thread needs to ask and to remember answers. C frames are counted from the outermost, 1,
 * on, as in the memo. */
struct language_memo {
    const struct heaptap_frame *asked; // The answer: one that was said, or:
    struct heaptap_frame answer[LIMIT_DEPTH + 1];
    struct language_said *said[LANGUAGES];
    const struct language_said *only; // The answer is this, of the only language, whole.
    struct heaptap_frame placed[LIMIT_DEPTH + 1]; // The same where addresses are known.
    uint32_t inside[LIMIT_DEPTH + 1]; // By placed frame: number of the C frame it is inside of.
    uint32_t ends[LANGUAGES];         // Where in those the frames of each language end.
    // Number N is at LIMIT_DEPTH - N, so that they lie innermost first and the outer ones stay.
    struct heaptap_native natives[LIMIT_DEPTH];
    struct native_facts facts[LIMIT_DEPTH];
    uint32_t native_count;
    uint32_t natives_same; // So many, from the outermost on, are those of the memo already.
    uint32_t root;         // What the outermost of them hangs on.
    // Of the memo's frames [spine_first, spine_count]; what is before has been cut. At 0 the root.
    struct language_spine spine[LIMIT_DEPTH + 1];
    uint32_t spine_first, spine_count;
    // The frames of the language in it, outermost first: placed, and as they were asked.
    struct heaptap_frame spine_asked[LIMIT_DEPTH + 1];
    struct heaptap_frame spine_raw[LIMIT_DEPTH + 1];
    uint32_t spine_same; // So many of them are the answer's, which is whole; perhaps more are.
    struct language_kept kept[LANGUAGE_KEPT];
    struct language_kept *latest; // Of them.
    struct language_deep deep[LANGUAGE_DEEP];
    struct language_noted noted[LANGUAGE_NOTED];
    struct language_noted strange; // Of a stack that cannot be told again.
};

/* C frame NUMBER as adapters see it, */
static inline struct heaptap_native *
language_native_at(struct language_memo *m, uint32_t number)
{
    return &m->natives[LIMIT_DEPTH - number];
}

/* and the rest of it. */
static inline struct native_facts *
language_facts_at(struct language_memo *m, uint32_t number)
{
    return &m->facts[LIMIT_DEPTH - number];
}

/* Are COUNT frames the same? In words: what comes here is short, and compared at each event. */
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

/* Compare COUNT frames that are mostly equal. */
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

/* Return how many inner frames of an answer are read: one more than a path has, if there is
 * room. */
static inline uint32_t
language_frames_wanted(void)
{
    return state->depth_max < LIMIT_DEPTH ? state->depth_max + 1 : LIMIT_DEPTH;
}

#endif
