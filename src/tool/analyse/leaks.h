/* leaks.h: unsuppressed live blocks, by stack. Reports call them "still live", not "leaked",
 * because their reachability is not checked. */
#ifndef ANALYSE_LEAKS_H
#define ANALYSE_LEAKS_H

#include "analyse/stacks.h"
#include "base/base.h"
#include "image/blocks.h"
#include "profile/profile.h"

/* --- suppress.c: known and accepted live stacks. The syntax is LeakSanitizer's: a line is
 * "leak:PATTERN", blank, or a comment that starts with "#". A pattern (leaks.h) is matched against
 * the function, linkage name, file and module of every frame. A pattern with an address (0x) is
 * also matched against the substitute name of an unsymbolized function (frame_name.h). */

struct suppress_binding;

struct suppression {
    const char *pattern;
    const char *origin; // "FILE:LINE" or "built-in".
    const struct suppress_binding *binding; // Code that a built-in pattern is about; else NULL.
    struct counters counters; // Sum of the stacks whose first matching entry this is.
};

struct suppressions {
    struct suppression *v;
    size_t count, capacity;
};

/* Add the suppressions in TEXT (LENGTH bytes, any content) to S. NAME is the file's name for
 * messages. Strings are from ARENA. Returns 0, or HEAPTAP_BAD_INPUT with the line in ERR; S then
 * has the suppressions of the lines before it. */
int suppress_parse(struct suppressions *s, const char *text, size_t length, const char *name,
                   struct arena *arena, struct err *err);

/* Add the built-in list: blocks that the C and C++ libraries keep on purpose. */
void suppress_add_builtin(struct suppressions *s, struct arena *arena);

/* Return the first of S that matches SITE, or NULL. FRAMES are the DEPTH frames of SITE, innermost
 * first and not folded, at LOCATIONS. *RET_FRAME is the index of the
 * outermost frame that the match depends on. */
struct suppression *suppress_find(struct suppressions *s, const struct profile *p,
                                  const struct profile_site *site, const uint32_t *frames,
                                  const uint32_t *locations, size_t depth, size_t *ret_frame);

struct leaks {
    const struct stack **v; // Most live bytes first, then stacks of zero-sized blocks.
    size_t count;
    struct stacks stacks; // Owns the stacks in v; total includes shrunk stacks.
    // Between two moments: the stacks with fewer live blocks or bytes than before, which v lacks.
    int64_t shrunk_stacks, shrunk_blocks, shrunk_bytes;
    int64_t suppressed_blocks;
    int64_t suppressed_bytes;
    struct counters all;      // Sum over the stacks that pass the filters, also suppressed ones.
    struct errors all_errors;
};

/* Find the unsuppressed live blocks. Everything in *RET is from ARENA. Adds the suppressed blocks
 * to the counters of the SUPPRESSIONS that matched. Returns 0, or HEAPTAP_USAGE as stacks_build. */
int leaks_find(const struct profile *p, const struct stacks_options *options,
               struct suppressions *suppressions, struct arena *arena, struct leaks *ret,
               struct err *err);

/* Store the suppression that matches each site of P, under OPTIONS, in an array from ARENA, by the
 * site's index; NULL = none. Returns as leaks_find. */
int leaks_suppress_sites(const struct profile *p, const struct stacks_options *options,
                         struct suppressions *suppressions, struct arena *arena,
                         struct suppression ***ret, struct err *err);

/* --- glob.c: patterns of suppression files. "*" matches any text, a leading "^" and a trailing "$"
 * anchor; without them the pattern matches anywhere in the text. Every other character matches
 * itself. */

/* Return true if PATTERN matches TEXT; NULL is the empty text. Linear in memory and at worst
 * quadratic in time. */
bool glob_match(const char *pattern, const char *text);

/* --- block_stacks.c: blocks of a process's memory, by stack. */

struct block_stacks {
    const struct blocks *blocks;
    uint32_t *stack_of; // By block: index into the stacks plus 1; 0 = filtered out.
    // By stack: the blocks of stack i are order[first[i]] to order[first[i + 1] - 1], by address.
    size_t *first;
    uint32_t *order;
};

/* Return an array from ARENA with the index plus 1 of each site of P, by its id in the file; 0 =
 * none. *RET_COUNT is its length. */
uint32_t *block_stacks_sites(const struct profile *p, struct arena *arena, uint32_t *ret_count);

/* Assign the blocks of B to STACKS, built from P, by their site ids. From ARENA. */
void block_stacks_build(const struct profile *p, const struct stacks *stacks,
                        const struct blocks *b, struct arena *arena, struct block_stacks *ret);

/* Blocks of one size. */
struct block_size {
    uint64_t size_bytes;
    uint64_t blocks;
};

/* Store the sizes of the blocks of stack I, smallest first, in an array from ARENA, and return
 * their number. *RET_UNKNOWN is the number of blocks of unknown size. */
size_t block_stacks_sizes(const struct block_stacks *s, size_t i, struct arena *arena,
                          struct block_size **ret, size_t *ret_unknown);

#endif
