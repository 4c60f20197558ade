/* retain.h: everything about a process's memory that answers "what keeps this alive?". */
#ifndef RETAIN_RETAIN_H
#define RETAIN_RETAIN_H

#include "profile/structure.h"
#include "retain/block_graph.h"

/* A word of a path. */
struct retain_word {
    uint64_t at;    // Address; of a register, its number.
    uint64_t value; // It points to the next block of the path.
};

/* The used part of a thread's stack, as it was. */
struct retain_stack {
    uint64_t start;
    size_t size_bytes;
    const unsigned char *bytes;
};

/* A part of a stack that belongs to one call of a function. */
struct retain_frame {
    const struct memory_thread *thread;
    uint64_t start, end;
    uint32_t location; // Index into the locations of the profile.
};

struct retain {
    const struct examined *e;
    struct block_graph graph; // The first nodes are E's blocks.
    struct roots roots;
    uint8_t *ranks;  // By block: enum root_rank.
    uint8_t *begins; // By block: block_graph_lost.
    const struct block *target; // NULL = there is none.
    struct block_path path;     // To `target`.
    // The variable where `path` begins; NULL = not known. Filled in later.
    const struct variable_members *variable;
    struct retain_word *words;  // By block of `path`: the word in front that points to it.
    struct retain_stack *stacks;
    size_t stack_count;
    struct retain_frame *frames; // By thread, then by `start`; filled in later (open/open_set.h).
    size_t frame_count;
};

/* Read the pointers of E, and find the path to TARGET, a block of E or NULL. Memory is from ARENA.
 * The caller calls retain_release. */
void retain_find(const struct examined *e, const struct block *target, struct arena *arena,
                 struct retain *ret);

/* Release R, which may be NULL. */
void retain_release(struct retain *r);

/* Read the word at ADDRESS as it was when R was found, of a stack or a dump. Return false if it is
 * unknown. */
bool retain_read_word(const struct retain *r, uint64_t address, uint64_t *ret);

#endif
