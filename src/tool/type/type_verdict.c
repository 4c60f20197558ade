/* type_verdict.c: choose a type by the facts. docs/internals/types.md explains the rules and their
 * accuracy; change both or neither.
 *
 * A fact counts only if it fits the sizes of all calls at the location: the type's size, a multiple
 * of it (an array), or more if the type ends with a flexible array. Frames are examined from the
 * innermost on, and the first frame that yields a type decides. After a frame without a type, the
 * search only continues outwards if the frame looks like a wrapper. A variable in the register of
 * the call's result is evidence in any frame, because all frames at the address share this
 * register.
 *
 *     certain    facts about the result itself: the strongest that fits
 *     likely     facts about the function, if all that fit agree on one type
 *
 * If a pointer to a type is assigned a block of several times its size, this does not prove an
 * array: objects with a common head are just as usual, and so is a block of several objects that is
 * accessed by a pointer to the first. A pointer to bytes does not prove text, and a sizeof in a sum
 * does not prove the position of the type in the block. Two agreeing facts of different kinds are
 * proof.
 *
 * In a wrapper an inexact fact proves little, because memory has a generic type there before the
 * caller assigns the real type. Therefore characters do not count there. A structure counts only as
 * the head of the block, and only if callers have no better fact. */
#include "type/types.h"

#include <string.h>

enum { ARRAY_ELEMENT_MIN = 16 }; // Smaller elements divide too many sizes to be evidence.

enum type_fit
type_fit(const struct type_fact *fact, const struct type_sizes *sizes)
{
    if (fact->size == 0)
        return sizes->min == sizes->max ? FIT_EXACT : FIT_ARRAY;
    if (sizes->min == fact->size && sizes->max == fact->size)
        return FIT_EXACT;
    if (fact->is_head)
        return fact->is_aggregate && sizes->min >= fact->size ? FIT_TAIL : FIT_NONE;
    if (fact->has_tail && sizes->min >= fact->tail_offset)
        return FIT_TAIL;
    if (sizes->min % fact->size == 0 && sizes->max % fact->size == 0)
        return FIT_ARRAY;
    return fact->is_aggregate && sizes->min > fact->size ? FIT_HEAD : FIT_NONE;
}

/* Return true if the language itself proves FACT, so that no second fact is needed. */
static bool
is_explicit(const struct type_fact *fact)
{
    return fact->evidence == EVIDENCE_TEMPLATE || fact->evidence == EVIDENCE_NEW;
}

/* Return true if the frame of FACT has another fact for the same type, with evidence from FIRST to
 * LAST. */
static bool
is_confirmed(const struct type_facts *facts, const struct type_fact *fact, enum type_evidence first,
             enum type_evidence last)
{
    for (size_t i = 0; i < facts->count; i++) {
        const struct type_fact *other = &facts->v[i];

        if (other->level == fact->level && other->evidence >= first && other->evidence <= last &&
            other->evidence != fact->evidence && strcmp(other->name, fact->name) == 0)
            return true;
    }
    return false;
}

/* Return true if FACT with FIT is sufficient without another fact. */
static bool
stands_alone(const struct type_facts *facts, const struct type_fact *fact, enum type_fit fit)
{
    if (is_explicit(fact))
        return true;
    // A term of a sum may be any part of the block, unless the result's own type is the same.
    if (fact->is_head)
        return is_confirmed(facts, fact, EVIDENCE_DECLARED, EVIDENCE_TARGET) ||
               is_confirmed(facts, fact, EVIDENCE_RESULT, EVIDENCE_CAST);
    if (fit == FIT_EXACT && (fact->is_aggregate || fact->size > 1))
        return true;
    if (fact->evidence == EVIDENCE_SIZEOF)
        return fact->is_aggregate || is_confirmed(facts, fact, EVIDENCE_DECLARED, EVIDENCE_CAST);
    return fit == FIT_TAIL || is_confirmed(facts, fact, EVIDENCE_NAME, EVIDENCE_NAME) ||
           is_confirmed(facts, fact, EVIDENCE_SIZEOF, EVIDENCE_SIZEOF);
}

/* Return the strength of FACT with FIT as a proof; 0 = none. Among facts of one kind, a structure
 * outranks bytes. */
static unsigned
strength(const struct type_facts *facts, const struct type_fact *fact, enum type_fit fit)
{
    unsigned kind = fact->is_aggregate ? 2 : 0;

    if (fit < FIT_ARRAY || fact->evidence < EVIDENCE_CERTAIN || !stands_alone(facts, fact, fit))
        return 0;
    if (fact->evidence == EVIDENCE_CONSTRUCTOR && fit != FIT_EXACT)
        return 0;
    if (is_explicit(fact))
        return 1000u + fact->evidence;
    return (kind + (fit == FIT_EXACT)) * 100u + fact->evidence;
}

/* Return true if FACT applies to the frame LEVEL. */
static bool
is_of_level(const struct type_fact *fact, size_t level)
{
    return fact->level == level || fact->evidence == EVIDENCE_RESULT ||
           fact->evidence == EVIDENCE_CONSTRUCTOR;
}

static struct type_answer
find_certain(const struct type_facts *facts, const struct type_sizes *sizes, size_t level)
{
    struct type_answer best = {0};
    unsigned best_strength = 0;

    for (size_t i = 0; i < facts->count; i++) {
        const struct type_fact *fact = &facts->v[i];
        enum type_fit fit = type_fit(fact, sizes);
        unsigned s = is_of_level(fact, level) ? strength(facts, fact, fit) : 0;

        if (s > best_strength) {
            best_strength = s;
            best = (struct type_answer){fact, fit, VERDICT_CERTAIN};
        }
    }
    return best;
}

/* Return true if a pointer to FACT's type makes an array of it likely. A single size that is a
 * multiple may also be a larger structure that begins with that type. */
static bool
is_likely_array(const struct type_fact *fact, const struct type_sizes *sizes)
{
    if (fact->evidence == EVIDENCE_NAME)
        return true;
    if (!fact->is_aggregate)
        return fact->evidence >= EVIDENCE_DECLARED;
    return sizes->min != sizes->max &&
           (fact->evidence >= EVIDENCE_BEGINS || fact->size >= ARRAY_ELEMENT_MIN);
}

/* Return the type if all facts of LEVEL with this EVIDENCE and FIT agree on it; otherwise an answer
 * without a fact. */
static struct type_answer
find_sole(const struct type_facts *facts, const struct type_sizes *sizes, size_t level,
          enum type_evidence evidence, enum type_fit fit)
{
    struct type_answer sole = {0};

    for (size_t i = 0; i < facts->count; i++) {
        const struct type_fact *fact = &facts->v[i];

        if (fact->evidence != evidence || fact->level != level || type_fit(fact, sizes) != fit)
            continue;
        if (fit == FIT_ARRAY && !is_likely_array(fact, sizes))
            continue;
        if (sole.fact != NULL && strcmp(sole.fact->name, fact->name) != 0)
            return (struct type_answer){0};
        sole = (struct type_answer){fact, fit, VERDICT_LIKELY};
    }
    return sole;
}

/* Return a likely answer from the types that the function of the frame LEVEL uses. */
static struct type_answer
find_likely(const struct type_facts *facts, const struct type_sizes *sizes, size_t level)
{
    static const struct {
        enum type_evidence evidence;
        enum type_fit fit;
        bool in_wrapper; // Applies also in functions that pass memory on.
    } rules[] = {
        {EVIDENCE_CAST, FIT_ARRAY, true},      {EVIDENCE_RESULT, FIT_ARRAY, true},
        {EVIDENCE_TARGET, FIT_ARRAY, true},    {EVIDENCE_DECLARED, FIT_ARRAY, true},
        {EVIDENCE_SIZEOF, FIT_TAIL, true},     {EVIDENCE_NAME, FIT_EXACT, true},
        {EVIDENCE_NAME, FIT_ARRAY, true},      {EVIDENCE_BEGINS, FIT_EXACT, true},
        {EVIDENCE_RETURN, FIT_EXACT, true},    {EVIDENCE_BEGINS, FIT_TAIL, true},
        {EVIDENCE_RETURN, FIT_TAIL, true},     {EVIDENCE_BEGINS, FIT_ARRAY, true},
        {EVIDENCE_VARIABLE, FIT_EXACT, false}, {EVIDENCE_MEMBER, FIT_EXACT, false},
        {EVIDENCE_VARIABLE, FIT_ARRAY, false}, {EVIDENCE_MEMBER, FIT_ARRAY, false},
        {EVIDENCE_RESULT, FIT_HEAD, true},
    };
    bool passes_on = level < facts->level_count && facts->passes_on[level];

    for (size_t i = 0; i < countof(rules); i++) {
        struct type_answer a = {0};

        if (rules[i].in_wrapper || !passes_on)
            a = find_sole(facts, sizes, level, rules[i].evidence, rules[i].fit);
        if (a.fact != NULL)
            return a;
    }
    return (struct type_answer){0};
}

/* Return true if A, found in a wrapper, may only be the wrapper's generic type for memory. */
static bool
is_provisional(const struct type_answer *a)
{
    if (is_explicit(a->fact))
        return false;
    return a->fit == FIT_HEAD || !a->fact->is_aggregate ||
           (a->fit == FIT_ARRAY && a->verdict != VERDICT_CERTAIN);
}

/* Return true if the frame LEVEL, which looks like a wrapper, allocates a structure of its choice:
 * it takes no size, and a fact with evidence from EVIDENCE_BEGINS on has a structure. */
static bool
has_own_type(const struct type_facts *facts, size_t level)
{
    if (facts->takes_size[level])
        return false;
    for (size_t i = 0; i < facts->count; i++)
        if (facts->v[i].level == level && facts->v[i].is_aggregate &&
            facts->v[i].evidence >= EVIDENCE_BEGINS)
            return true;
    return false;
}

bool
type_verdict_decide(const struct type_facts *facts, const struct type_sizes *sizes,
                    struct type_answer *ret)
{
    *ret = (struct type_answer){0};
    for (size_t level = 0; level < facts->level_count; level++) {
        struct type_answer a = find_certain(facts, sizes, level);
        bool passes_on = facts->passes_on[level] && !has_own_type(facts, level);

        if (a.fact == NULL)
            a = find_likely(facts, sizes, level);
        if (a.fact != NULL && !(passes_on && is_provisional(&a))) {
            *ret = a;
            return false;
        }
        if (a.fact != NULL && a.fact->is_aggregate && ret->fact == NULL)
            *ret = (struct type_answer){a.fact, FIT_HEAD, VERDICT_LIKELY};
        if (!passes_on)
            return false;
    }
    return true;
}
