/* annotated_view.h: blocks found in a copy of memory, prepared for display. */
#ifndef VIEW_ANNOTATED_VIEW_H
#define VIEW_ANNOTATED_VIEW_H

#include "analyse/stacks.h"
#include "layout/annotated_profile.h"

/* View of such blocks. Its data must live as long as the view. */
struct annotated_view {
    const struct annotated_memory *memory;
    const struct annotated_places *places;
    const struct annotated_sizes *sizes; // By stack of the view.
};

struct annotated_size {
    uint64_t size, count;
};

/* Sizes of a stack's blocks, in ascending order, and the times of their allocation. */
struct annotated_sizes {
    struct annotated_size *v;
    size_t count;
    bool has_birth;
    uint64_t birth_first, birth_last;
};

/* Return the sizes of each of STACKS, an array from ARENA. */
struct annotated_sizes *annotated_sizes(const struct annotated_memory *m,
                                        const struct annotated_places *places,
                                        const struct stacks *stacks, struct arena *arena);

/* Return KIND in words: "little-endian words of 4 bytes". Static. */
const char *annotated_kind_words(enum annotation_kind kind);

/* Return a phrase for COUNT marks that were refused because of WHY: "2 copies of blocks elsewhere".
 * From ARENA. */
const char *annotated_refusal_words(enum refusal why, uint64_t count, struct arena *arena);

/* Return a phrase for all refused marks, except marks of another word size: "3 refused: 2 …, 1 …";
 * NULL if there are none. From ARENA. */
const char *annotated_refused_words(const struct annotated_memory *m, struct arena *arena);

/* Return the address of BLOCK: "0x20000010", or "0x…20000010" if the upper half is not known. From
 * ARENA. */
const char *annotated_address_words(const struct annotated_memory *m,
                                    const struct annotated_block *block, struct arena *arena);

/* Return the name of WHY, or of a kind of corruption, in JSON: "copy", "past-end". Static. */
const char *annotated_refusal_name(enum refusal why);
const char *annotated_corruption_name(enum corruption_kind kind);

#endif
