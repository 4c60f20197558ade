/* names_hint.h: one sentence about missing names. */
#ifndef OPEN_NAMES_HINT_H
#define OPEN_NAMES_HINT_H

#include "analyse/unsymbolized.h"

/* A file that lacks names. */
struct names_gap {
    const char *path, *build_id; // The recorded build id, in hex; "" = none.
    const char *lack;            // Result of symbol_lack.
    const char *changed;         // Build id of the file at the path; NULL = no file there.
    const char *lists;                  // Package database of the recording system.
    bool elsewhere;                     // The recorded file is not on this machine.
    struct unsymbolized_bytes bytes;
};

/* Gaps found so far. {0} is empty. */
struct names_hint {
    struct arena arena;
    struct names_gap *gaps;
    size_t count, capacity;
    const char *lineless; // A program with names but without lines; NULL = none.
    struct unsymbolized_bytes lineless_bytes, total;
};

/* Record the names that are missing in STACKS of P, which are shown before or after this. P must be
 * symbolised. */
void names_hint_add(struct names_hint *h, const struct profile *p, const struct stacks *stacks);

/* Like names_hint_add, for all stacks of P, with or without FOLD_RECURSION. */
void names_hint_add_all(struct names_hint *h, const struct profile *p, bool fold_recursion);

/* Print the hint, if there is one, and release H. */
void names_hint_print(struct names_hint *h);

#endif
