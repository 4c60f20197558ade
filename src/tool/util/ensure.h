/* ensure.h: assertions on internal errors, in the tools. Contents of files are never asserted on: a
 * reader checks them and returns HEAPTAP_BAD_INPUT.
 *
 * There are two kinds, by cost. ENSURE compares a few words. It is active in every build, because a
 * wrong number is worse than none. ENSURE_VALID walks whole tables, which makes a command 10 to 20
 * % slower. It is active only with -DENSURE_TABLES: in developer builds (DEVELOPER=1), with each
 * sanitizer, in fuzz targets and their replays, and in the harness.
 *
 * A failure prints the condition and its location, and ends the program with exit code 4. Only the
 * output is lost, because the tools never write to their inputs.
 *
 * A validity function checks the invariants that a structure's header promises. It only reads,
 * never fails and has one line per invariant:
 *
 *     VALID(site->node < p->node_count); // The loader omits sites without a node. */
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

/* In a validity function: return false if CONDITION does not hold. */
#define VALID(condition)                                                                           \
    do {                                                                                           \
        if (unlikely(!(condition)))                                                                \
            return ensure_broken(#condition, __FILE__, __LINE__);                                  \
    } while (0)

/* Report that the condition EXPECTED is false at LINE of FILE, with the reason WHY (or NULL), and
 * end the program with exit code 4. */
_Noreturn void ensure_failed(const char *expected, const char *why, const char *file, int line)
    COLD;

/* Store the false CONDITION and its place for a later message. Return false. */
bool ensure_broken(const char *condition, const char *file, int line) COLD;

/* Return the condition stored last, and its place: "a < b (profile_valid.c:12)"; "" if none. Valid
 * until the next condition is stored. */
const char *ensure_broken_text(void);

#endif
