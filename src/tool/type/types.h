/* types.h: find the types of a profile's blocks. */
#ifndef TYPE_TYPES_H
#define TYPE_TYPES_H

#include "profile/profile.h"
#include "symbol/symbol.h"
#include "type/type_facts.h"

/* Fill in P's types of the sizes that occurred, and the type of each site's blocks. P must be
 * symbolised. Types without debug information stay unknown; that is not a failure. A call has no
 * effect if P already has types. */
void symbol_types(struct profile *p, const struct symbol_options *options);

/* --- type_verdict.c: infer the type of a call's blocks. */

/* Sizes requested by a call. */
struct type_sizes {
    uint64_t min, max;
};

/* Relation of blocks to a type. */
enum type_fit {
    FIT_NONE = 0,
    FIT_HEAD,  // Sizes are larger by an unexplained amount.
    FIT_ARRAY, // Sizes are multiples of the type's size.
    FIT_TAIL,  // Sizes are larger, and the type ends with a flexible array.
    FIT_EXACT,
};

struct type_answer {
    const struct type_fact *fact; // NULL = none.
    enum type_fit fit;
    enum profile_verdict verdict;
};

/* Return the relation of blocks of SIZES to the type of FACT. */
enum type_fit type_fit(const struct type_fact *fact, const struct type_sizes *sizes);

/* Set *RET to the type of blocks of SIZES according to FACTS. Return true if the function only
 * passes blocks on; *RET then counts only if the caller has no answer. */
bool type_verdict_decide(const struct type_facts *facts, const struct type_sizes *sizes,
                         struct type_answer *ret);

#endif
