/* suppress.h: known and accepted live stacks. The syntax is LeakSanitizer's: a line is
 * "leak:PATTERN", blank, or a comment that starts with "#". A pattern (glob.h) is searched in the
 * function, linkage name, file and module of every frame. A pattern with an address (0x) also
 * matches the substitute name of a unsymbolized function (frame_name.h). */
#ifndef ANALYSE_SUPPRESS_H
#define ANALYSE_SUPPRESS_H

#include "profile/profile.h"

struct suppression {
    const char *pattern;
    const char *origin; // "FILE:LINE" or "built-in".
    bool innermost;     // Only the function that asked for the memory may match, not its callers.
    uint64_t size;      // Only blocks of this size; 0 = any.
    struct counters counters; // Sum of the suppressed stacks; the first matching entry gets them.
};

struct suppressions {
    struct suppression *v;
    size_t count, capacity;
};

/* Add the suppressions in TEXT (LENGTH bytes, any content) to S; NAME is the file's for messages.
 * Strings are from ARENA. Returns 0, or HEAPTAP_BAD_INPUT with the line in ERR; S then has those
 * before it. */
int suppress_parse(struct suppressions *s, const char *text, size_t length, const char *name,
                   struct arena *arena, struct err *err);

/* Add the built-in list: blocks that the C and C++ libraries keep on purpose. */
void suppress_add_builtin(struct suppressions *s, struct arena *arena);

/* Return the first of S that matches SITE, whose DEPTH frames are FRAMES, seen at LOCATIONS
 * (innermost first, not folded), or NULL. */
struct suppression *suppress_find(struct suppressions *s, const struct profile *p,
                                  const struct profile_site *site, const uint32_t *frames,
                                  const uint32_t *locations, size_t depth);

#endif
