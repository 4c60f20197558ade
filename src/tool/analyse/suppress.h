/* suppress.h: known and accepted live stacks. The syntax is LeakSanitizer's: a line is
 * "leak:PATTERN", blank, or a comment that starts with "#". A pattern (glob.h) is matched against
 * the function, linkage name, file and module of every frame. A pattern with an address (0x) is
 * also matched against the substitute name of an unsymbolized function (frame_name.h). */
#ifndef ANALYSE_SUPPRESS_H
#define ANALYSE_SUPPRESS_H

#include "profile/profile.h"

struct suppression {
    const char *pattern;
    const char *origin; // "FILE:LINE" or "built-in".
    bool innermost;     // Match only the function that requested the memory, not its callers.
    uint64_t size;      // Match only blocks of this size; 0 = any.
    struct counters counters; // Sum of the stacks whose first matching entry this is.
};

struct suppressions {
    struct suppression *v;
    size_t count, capacity;
};

/* Add the suppressions in TEXT (LENGTH bytes, any content) to S. NAME is the file's name for
 * messages. Strings are from ARENA. Returns 0, or HEAPTAP_BAD_INPUT with the line in ERR; S then
 * has the suppressions of the lines before it. */
int suppress_parse(struct suppressions *s, const char *text, size_t length, const char *name,
                   struct arena *arena, struct err *err);

/* Add the built-in list: blocks that the C and C++ libraries keep on purpose. */
void suppress_add_builtin(struct suppressions *s, struct arena *arena);

/* Return the first of S that matches SITE, or NULL. FRAMES are the DEPTH frames of SITE, innermost
 * first and not folded, at LOCATIONS. */
struct suppression *suppress_find(struct suppressions *s, const struct profile *p,
                                  const struct profile_site *site, const uint32_t *frames,
                                  const uint32_t *locations, size_t depth);

#endif
