/* suggest.h: "did you mean …?" for a mistyped word. */
#ifndef OPTION_SUGGEST_H
#define OPTION_SUGGEST_H

#include "base/base.h"

/* The best of the candidates offered so far. {.word = w} starts. */
struct suggestion {
    const char *word;    // The given word.
    const char *nearest; // NULL = nothing near enough. Borrowed from the caller of suggest_offer.
    size_t distance;     // Distance of nearest.
};

/* Store CANDIDATE if it is near enough to the word and nearer than earlier candidates. */
void suggest_offer(struct suggestion *s, const char *candidate);

#endif
