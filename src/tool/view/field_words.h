/* field_words.h: advice on structures in words. */
#ifndef VIEW_FIELD_WORDS_H
#define VIEW_FIELD_WORDS_H

#include "analyse/field_advice.h"

/* Return the name of R: "list.next", or "(padding)". */
const char *field_name(const struct profile *p, const struct field_row *r);

/* Return the names of the members of PART of F: "key", "list", "dirty, pinned". From ARENA. */
const char *field_part_name(const struct profile *p, const struct field_structure *f,
                            const struct field_part *part, struct arena *arena);

/* Return the certainty of the blocks' type: "certainly", "likely". */
const char *field_verdict_words(uint32_t verdict);

/* Store advice on F in one sentence each, from ARENA. Return their number, at most
 * FIELD_SENTENCES. */
enum { FIELD_SENTENCES = 16 };
size_t field_sentences(const struct profile *p, const struct field_structure *f,
                       const struct field_advice *advice, struct arena *arena,
                       const char *ret[FIELD_SENTENCES]);

#endif
