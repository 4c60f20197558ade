/* ensure.h: assertions on internal errors, in the tools. Contents of foreign files are never
 * asserted on: they are checked and give HEAPTAP_BAD_INPUT.
 *
 * Two kinds, by cost. ENSURE compares a few words and is active in every build, because a wrong
 * number is worse than none. ENSURE_VALID walks whole tables, which makes a command a tenth to a
 * fifth slower. So it is active in developer builds (DEVELOPER=1, each sanitizer, fuzz targets and
 * their replays, the harness: -DENSURE_TABLES), not in installed ones.
 *
 * A failure prints the expectation and its location, and ends the program with exit code 4. Inputs
 * are only read, so only the output is lost.
 *
 * A validity function checks the invariants that a structure's header promises. It only reads,
 * never fails and has one line per invariant:
 *
 *     HOLDS(site->node < p->node_count); // The loader omits sites without a node. */
#ifndef UTIL_ENSURE_H
#define UTIL_ENSURE_H

#include "base/base.h"

#define ENSURE(condition)                                                                          \
    (likely(condition) ? (void)0 : ensure_failed(#condition, NULL, __FILE__, __LINE__))

#ifdef ENSURE_TABLES
#define ENSURE_VALID(call)                                                                         \
    (likely(call) ? (void)0 : ensure_failed(#call, ensure_broken_text(), __FILE__, __LINE__))
#else
#define ENSURE_VALID(call) ((void)sizeof(call))
#endif

/* In a validity function: CONDITION holds, or the function returns false. */
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (unlikely(!(condition)))                                                                \
            return ensure_broken(#condition, __FILE__, __LINE__);                                  \
    } while (0)

/* Report that EXPECTED does not hold in LINE of FILE, because of WHY (or NULL), and end with exit
 * code 4. */
_Noreturn void ensure_failed(const char *expected, const char *why, const char *file, int line)
    COLD;

/* Store the condition that HOLDS found broken, for a message. Returns false. */
bool ensure_broken(const char *condition, const char *file, int line) COLD;

/* Return the condition last found broken, and its place: "a < b (profile_valid.c:12)"; "" if none.
 * Valid until the next one is found. */
const char *ensure_broken_text(void);

#endif
