/* memory_words.h: words for findings in the memory of a process. All from ARENA. */
#ifndef VIEW_MEMORY_WORDS_H
#define VIEW_MEMORY_WORDS_H

#include "image/abort_cause.h"
#include "image/birth.h"
#include "image/place.h"

/* Return PLACE in words: "8 bytes behind the end of a block of 64 bytes". */
const char *memory_place_words(struct arena *arena, const struct examined *e,
                               const struct place *place);

/* The same in one word, for programs: "block", "behind", "ended", "stack", "below_stack", "module",
 * "null", "other" or "nowhere". */
const char *memory_place_name(enum place_kind kind);

/* Allocating thread of a block: "by thread 4711 (worker), of which it is the latest"; NULL if
 * unknown. */
const char *memory_birth_thread(struct arena *arena, const struct birth *b);

/* Time of a block's allocation: "12.1 s to 12.4 s after the start, 3.2 s to 3.5 s ago"; NULL if
 * unknown. */
const char *memory_birth_time(struct arena *arena, const struct examined *e, const struct birth *b);

/* Return the end of a sentence about the block of CAUSE: "was being freed and most likely
 * overflowed". Requires a known kind. */
const char *memory_abort_words(struct arena *arena, const struct abort_cause *cause);

/* Return the kind of CAUSE for programs: "overflowed". NULL if it is unknown. */
const char *memory_abort_kind(const struct abort_cause *cause);

/* Return true if a signal ended the process of M, false if the process survived the dump. */
bool memory_has_died(const struct memory *m);

/* "64 B", "about 64 B" if it is an estimate, or "of unknown size". */
const char *memory_block_size(struct arena *arena, const struct block *b);

/* Return the end of the process of M: "Killed by SIGSEGV: …". */
const char *memory_signal_words(struct arena *arena, const struct memory *m);

/* "SIGSEGV", or "signal 99". */
const char *memory_signal_name(struct arena *arena, uint32_t number);

/* Missing parts of E, to append to its totals; "" if there are none. */
const char *memory_gaps_words(struct arena *arena, const struct examined *e);

#endif
