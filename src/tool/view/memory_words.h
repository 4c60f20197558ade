/* memory_words.h: findings in the memory of a process in words. All results are from ARENA. */
#ifndef VIEW_MEMORY_WORDS_H
#define VIEW_MEMORY_WORDS_H

#include "image/abort_cause.h"
#include "image/birth.h"
#include "image/place.h"

/* Return PLACE in words: "8 bytes behind the end of a block of 64 bytes". */
const char *memory_place_words(struct arena *arena, const struct examined *e,
                               const struct place *place);

/* Return KIND in JSON: "block", "behind", "ended", "stack", "below_stack", "module", "null",
 * "other" or "nowhere". */
const char *memory_place_name(enum place_kind kind);

/* Return the allocating thread of a block: "by thread 4711 (worker), of which it is the latest";
 * NULL if unknown. */
const char *memory_birth_thread(struct arena *arena, const struct birth *b);

/* Return the time of a block's allocation: "12.1 s to 12.4 s after the start, 3.2 s to 3.5 s ago";
 * NULL if unknown. */
const char *memory_birth_time(struct arena *arena, const struct examined *e, const struct birth *b);

/* Return the end of a sentence about the block of CAUSE: "was being freed and most likely
 * overflowed". Requires a known kind. */
const char *memory_abort_words(struct arena *arena, const struct abort_cause *cause);

/* Return the kind of CAUSE in JSON: "overflowed". NULL if it is unknown. */
const char *memory_abort_kind(const struct abort_cause *cause);

/* Return true if a signal ended the process of M, false if the process survived the dump. */
bool memory_has_died(const struct memory *m);

/* Return the size of B: "64 B", "about 64 B" for an estimate, or "of unknown size". */
const char *memory_block_size(struct arena *arena, const struct block *b);

/* Return the end of the process of M: "Killed by SIGSEGV: …". */
const char *memory_signal_words(struct arena *arena, const struct memory *m);

/* Return the name of a signal: "SIGSEGV", or "signal 99". */
const char *memory_signal_name(struct arena *arena, uint32_t number);

/* Return a sentence about the missing parts of E, to append to its totals; "" if there are none. */
const char *memory_gaps_words(struct arena *arena, const struct examined *e);

#endif
