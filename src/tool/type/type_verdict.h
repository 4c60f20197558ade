/* type_verdict.h: infer the type of a call's blocks from facts. */
#ifndef TYPE_TYPE_VERDICT_H
#define TYPE_TYPE_VERDICT_H

#include "profile/profile.h"
#include "type/type_facts.h"

/* The sizes requested at one place. */
struct type_sizes {
    uint64_t min, max;
};

/* How the blocks relate to a type. */
enum type_fit {
    FIT_NONE = 0,
    FIT_HEAD,  // They are larger by an unexplained amount.
    FIT_ARRAY, // Their sizes are multiples of the type's.
    FIT_TAIL,  // They are larger, and the type ends with an open array.
    FIT_EXACT,
};

struct type_answer {
    const struct type_fact *fact; // NULL = none.
    enum type_fit fit;
    enum profile_verdict verdict;
};

/* Return how blocks of SIZES relate to the type of FACT. */
enum type_fit type_fit(const struct type_fact *fact, const struct type_sizes *sizes);

/* Set *RET to the type that FACTS give blocks of SIZES. Returns true if the function only passes
 * blocks on; the answer then counts only if the caller has none. */
bool type_verdict_decide(const struct type_facts *facts, const struct type_sizes *sizes,
                         struct type_answer *ret);

#endif
