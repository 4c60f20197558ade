/* names_hint.h: one sentence about names missing from the output. */
#ifndef COMMAND_NAMES_HINT_H
#define COMMAND_NAMES_HINT_H

#include "analyse/nameless.h"

/* A file without which names are missing. */
struct names_gap {
    const char *path, *build_id; // The recorded one, in hex; "" = none.
    const char *lack;            // What symbol_lack says.
    const char *changed;         // The build id of the file that is in its place; NULL = none is.
    const char *lists;                  // Package database of the recording system.
    bool elsewhere;                     // It is not here as it was.
    struct nameless_bytes bytes;
};

/* Starts as {0}. */
struct names_hint {
    struct arena arena;
    struct names_gap *gaps;
    size_t count, capacity;
    const char *lineless; // A program with names, but without lines; NULL = none.
    struct nameless_bytes lineless_bytes, total;
};

/* Note what P, resolved, lacks of the names in STACKS, which have been or will be shown. */
void names_hint_add(struct names_hint *h, const struct profile *p, const struct stacks *stacks);

/* The same for all stacks of P, seen with FOLD_RECURSION or without. */
void names_hint_add_all(struct names_hint *h, const struct profile *p, bool fold_recursion);

/* Say what matters, or nothing, and release H. */
void names_hint_say(struct names_hint *h);

#endif
