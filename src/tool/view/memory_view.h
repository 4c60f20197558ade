/* memory_view.h: queries about a process's memory and their results; text and JSON show the
 * same. */
#ifndef VIEW_MEMORY_VIEW_H
#define VIEW_MEMORY_VIEW_H

#include "analyse/block_stacks.h"
#include "image/birth.h"
#include "image/check_blocks.h"
#include "image/place.h"
#include "image/pointers.h"
#include "image/reach.h"
#include "view/view.h"

enum memory_question {
    MEMORY_ALL,      // All stacks.
    MEMORY_LARGEST,  // The largest blocks.
    MEMORY_ADDRESS,  // Describe an address.
    MEMORY_POINTERS, // Find pointers to it.
    MEMORY_LEAKS,    // Find reachable blocks.
    MEMORY_CHECK,    // Find corruption.
};

/* Queries that read all memory come first, while a process is stopped. */
struct memory_answer {
    enum memory_question question;
    uint64_t address; // ADDRESS, POINTERS
    struct place place;
    struct birth birth; // Stack of the address's block, if there is one.
    struct pointers pointers;
    struct reached reached;
    struct checked checked;
};

/* Lost blocks of a stack. */
struct lost {
    const struct stack *stack;
    struct {
        uint64_t blocks, bytes;
    } none, through;         // As enum reach.
    uint64_t first, in_all;  // Address of the first lost block; number of blocks.
};

struct memory_view {
    const struct examined *e;
    const struct memory_answer *answer;
    struct block_stacks stacks;
    const struct block **blocks; // LARGEST
    size_t block_count;
    struct lost *lost; // LEAKS, the most bytes first.
    size_t lost_count;
};

/* Find the answer to RET->question about RET->address in E. Memory is from ARENA. */
void memory_view_search(const struct examined *e, struct arena *arena, struct memory_answer *ret);

/* Make a view of ANSWER, the result of a search in E, for the stacks of V. From V's arena. */
void memory_view_build(const struct view *v, const struct examined *e,
                       const struct memory_answer *answer, struct memory_view *ret);

/* Set *RET to the stack of SITE, an id of the file: as V shows it or, if no block of it lives, the
 * whole stack. Returns false if it is not known. */
bool memory_view_stack(const struct view *v, const struct examined *e, uint32_t site,
                       struct stack *ret);

/* Return the stack of B, which M lists, without a search. */
const struct stack *memory_view_shown(const struct view *v, const struct memory_view *m,
                                      const struct block *b);

/* Set *RET_BEFORE and *RET_BEHIND to the live blocks next to PLACE: on both sides of its block if
 * that lives, else of its address. NULL = there is none, or PLACE is not in or behind a block.
 */
void memory_view_neighbours(const struct examined *e, const struct place *place,
                            const struct block **ret_before, const struct block **ret_behind);

/* Return true if P has heaps of the program's own whose objects E does not list. */
bool memory_view_lacks_heaps(const struct profile *p, const struct examined *e);

/* Return the innermost function of user code in S; "" if S has no frame. From V's
 * arena. */
const char *memory_view_function(const struct view *v, const struct stack *s);

/* Return a description of POINTER's location: "cache + 16 in libx.so", "stack of thread 4711 +
 * 0x40", "rbx of thread 4711", "byte 8 of the block of 64 bytes at 0x…, allocated by f". From V's
 * arena. */
const char *memory_view_holder(const struct view *v, const struct examined *e,
                               const struct pointer *pointer);

#endif
