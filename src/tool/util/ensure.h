/* ensure.h: asserting on our own mistakes, in the tools. What a stranger's file says is no such
 * mistake and is never asserted on: it is checked, and is HEAPTAP_BAD_INPUT.
 *
 * Two kinds, told apart by what they cost. ENSURE compares a few words and stands in every build,
 * because a wrong number that somebody believes is worse than none. ENSURE_VALID walks whole
 * tables: what was just made is walked once more, which makes a command a tenth to a fifth slower.
 * So it stands where we look for our mistakes (DEVELOPER=1, each sanitizer, fuzz targets and their
 * replays, the harness: -DENSURE_TABLES) and not in what people install.
 *
 * One that fails says what was expected and where, and ends the program with exit code 4. Inputs
 * are only ever read, so nothing is lost but the output.
 *
 * A validity function tells whether a structure is what its header promises. It only reads, never
 * fails and names each promise on a line of its own:
 *
 *     HOLDS(site->node < p->node_count); // The loader leaves out what has no node.
 */
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

/* Say that EXPECTED does not hold in LINE of FILE, because of WHY (NULL: it says all), and end with
 * exit code 4. */
_Noreturn void ensure_failed(const char *expected, const char *why, const char *file, int line)
    COLD;

/* Keep for a message what HOLDS has found broken; returns false. */
bool ensure_broken(const char *condition, const char *file, int line) COLD;

/* The condition that was last found broken, and where: "a < b (profile_valid.c:12)"; "" before.
 * Valid until the next one is. */
const char *ensure_broken_text(void);

#endif
