/* type_judge.h: from facts about a call to what its blocks are. */
#ifndef SYMBOL_TYPE_JUDGE_H
#define SYMBOL_TYPE_JUDGE_H

#include "profile/profile.h"
#include "type/type_facts.h"

/* The sizes that were asked for at one place. */
struct type_sizes {
    uint64_t min, max;
};

/* How the blocks relate to a type. */
enum type_fit {
    FIT_NONE = 0,
    FIT_HEAD,  // Larger, and it is not said by what.
    FIT_ARRAY, // A multiple.
    FIT_TAIL,  // Larger, and the type has an open end.
    FIT_EXACT,
};

struct type_answer {
    const struct type_fact *fact; // NULL = none.
    enum type_fit fit;
    enum profile_verdict verdict;
};

enum type_fit type_fit(const struct type_fact *fact, const struct type_sizes *sizes);

/* What FACTS say of blocks of SIZES, into *RET. True if the function only passes them on, so that
 * its caller knows better: then the answer is for when the caller knows nothing. */
bool type_judge(const struct type_facts *facts, const struct type_sizes *sizes,
                struct type_answer *ret);

#endif
