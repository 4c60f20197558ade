/* memory_view.h: questions about a process's memory and their answers, identical in text and
 * JSON. */
#ifndef VIEW_MEMORY_VIEW_H
#define VIEW_MEMORY_VIEW_H

#include "analyse/leaks.h"
#include "image/check_blocks.h"
#include "image/examined.h"
#include "image/place.h"
#include "image/pointers.h"
#include "image/reach.h"
#include "resident/resident.h"
#include "retain/retain.h"
#include "view/view.h"

enum memory_question {
    MEMORY_ALL,      // All stacks.
    MEMORY_LARGEST,  // The largest blocks.
    MEMORY_ADDRESS,  // Describe an address.
    MEMORY_POINTERS, // Find pointers to an address.
    MEMORY_LEAKS,    // Find unreachable blocks.
    MEMORY_CHECK,    // Find corruptions.
    MEMORY_RESIDENT, // Divide the resident memory.
    MEMORY_RETAIN,   // Find what keeps blocks alive.
};

/* Blocks that were unreachable in earlier readings of the process. */
struct lost_history {
    uint32_t readings; // Number of readings, with the last; 0 = there was only one.
    // By block: the reading, from 0 on, since which it has been unreachable.
    const uint32_t *since;
    uint64_t recovered; // Number of blocks that were unreachable, but ended or were reached later.
};

/* Results of the questions that read all memory; they run first, while the process is stopped. */
struct memory_answer {
    enum memory_question question;
    uint64_t address; // ADDRESS, POINTERS; RETAIN: of a block, 0 = all.
    struct place place;
    struct birth birth; // Origin of the block at the address, if there is one.
    struct pointers pointers;
    struct reached reached;
    struct lost_history history; // LEAKS
    struct checked checked;
    struct resident resident;
    struct retain *retain; // The caller calls retain_release.
};

struct block_sum {
    uint64_t blocks, bytes;
};

/* Unreachable blocks of a stack. */
struct lost {
    const struct stack *stack;
    struct block_sum none, through; // By enum reach. Several readings: those that stayed.
    struct block_sum grown; // Several readings: those that the first reading lacked.
    uint32_t growths;       // Number of readings in which such blocks were new.
    uint64_t first, in_all;  // Address of the first lost block, and number of lost blocks.
};

/* Rules for the unreachable blocks of a view. */
struct lost_rules {
    // By site: the suppression that matches it, or NULL. NULL = there are none.
    struct suppression **of_site;
    struct suppressions *suppressions; // NULL = none.
};

struct memory_view {
    const struct examined *e;
    const struct memory_answer *answer;
    struct block_stacks stacks;
    const struct block **blocks; // LARGEST
    size_t block_count;
    struct lost *lost; // LEAKS, most bytes first.
    size_t lost_count;
    // LEAKS: sums over the blocks that the view shows, and over all others. Without filters, the
    // others are chunks of the program's heaps.
    struct block_sum reached[REACH_KINDS], others;
    const struct suppressions *suppressions; // LEAKS; NULL = none.
    struct block_sum fresh; // LEAKS: blocks that only the last of several readings found.
    struct block_sum suppressed; // LEAKS: unreachable blocks that suppressions hide.
    const struct resident_row *resident; // RESIDENT, with a table of live blocks; else NULL.
    size_t resident_count;
    const struct retain_view *retain; // RETAIN (view/retain_view.h); the command sets it.
};

/* Answer RET->question about RET->address in E. Memory is from ARENA. */
void memory_view_search(const struct examined *e, struct arena *arena, struct memory_answer *ret);

/* Make a view of ANSWER, the result of a search in E, for the stacks of V. Unreachable blocks are
 * counted under RULES, and added to the counters of suppressions. From V's arena. */
void memory_view_build(const struct view *v, const struct examined *e,
                       const struct memory_answer *answer, const struct lost_rules *rules,
                       struct memory_view *ret);

/* --- resident_rows.c: the resident memory of live blocks. */

enum resident_by { RESIDENT_BY_NONE, RESIDENT_BY_SITE, RESIDENT_BY_TYPE };

/* Live blocks of a stack or of a type. */
struct resident_row {
    const char *name;          // Type, or function that allocates.
    const struct stack *stack; // BY_SITE
    struct block_sum blocks;
    uint64_t resident_bytes;
};

/* Fill in the table of M, whose question is MEMORY_RESIDENT, from the stacks of V: most resident
 * bytes first. BY_TYPE, TYPES has the type's name of each site, as an id of a string; 0 = none. */
void memory_view_list_resident(const struct view *v, enum resident_by by, const uint32_t *types,
                               struct memory_view *m);

/* --- lost_view.c: unreachable blocks, by stack. */

/* Fill in the members of M for MEMORY_LEAKS, under RULES. */
void memory_view_list_lost(const struct view *v, const struct lost_rules *rules,
                           struct memory_view *m);

/* Set *RET to the stack of the thread that died in E's memory; its depth is 0 if it is unknown. */
void memory_view_crash(const struct view *v, const struct examined *e, struct stack *ret);

/* Set *RET to the stack of SITE, an id of the file, as V shows it; the whole stack if no block of
 * SITE is live. Return false if SITE is unknown. */
bool memory_view_stack(const struct view *v, const struct examined *e, uint32_t site,
                       struct stack *ret);

/* Return the stack of B, one of the blocks in M, without a search. */
const struct stack *memory_view_shown(const struct view *v, const struct memory_view *m,
                                      const struct block *b);

/* Set *RET_BEFORE and *RET_BEHIND to the live blocks on both sides of PLACE: next to its block if
 * that is live, otherwise next to the address. Set both to NULL if PLACE is not in or behind a
 * block; set one to NULL if there is none on that side.
 */
void memory_view_neighbours(const struct examined *e, const struct place *place,
                            const struct block **ret_before, const struct block **ret_behind);

/* Return true if P has heaps of the program whose objects E does not list. */
bool memory_view_lacks_heaps(const struct profile *p, const struct examined *e);

/* Return the innermost function of user code in S; "" if S has no frame. From V's
 * arena. */
const char *memory_view_function(const struct view *v, const struct stack *s);

/* Return the place of that function in S: "file.c:12", or its module; "" if S has no frame. From
 * V's arena. */
const char *memory_view_line(const struct view *v, const struct stack *s);

/* Return the module of MAPPING's file in P, or a module with only the path, which may differ from
 * the path in the loader's list. */
struct profile_module memory_view_module(const struct profile *p,
                                         const struct memory_mapping *mapping);

/* Return a description of POINTER's location: "cache + 16 in libx.so", "stack of thread 4711 +
 * 0x40", "rbx of thread 4711", "byte 8 of the block of 64 bytes at 0x…, allocated by f". From V's
 * arena. */
const char *memory_view_holder(const struct view *v, const struct examined *e,
                               const struct pointer *pointer);

#endif
