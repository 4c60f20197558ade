/* suggest.h: "did you mean …?" for a mistyped word. */
#ifndef OPTION_SUGGEST_H
#define OPTION_SUGGEST_H

#include "base/base.h"

/* Best of the candidates so far. Initialise as {.word = w}. */
struct suggestion {
    const char *word;    // The mistyped word.
    const char *nearest; // NULL = none is near. Borrowed from the caller of suggest_offer.
    size_t distance;     // Number of edits between both.
};

/* Store CANDIDATE if it is near enough to the word and nearer than earlier candidates. */
void suggest_offer(struct suggestion *s, const char *candidate);

#endif
