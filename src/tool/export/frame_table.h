/* frame_table.h: table of the functions on a profile's stacks, for formats whose stacks are lists
 * of row numbers. */
#ifndef EXPORT_FRAME_TABLE_H
#define EXPORT_FRAME_TABLE_H

#include "analyse/stacks.h"
#include "analyse/totals.h"
#include "util/strbuf.h"

struct frame_row {
    const char *name; // Label of the function; not empty, unless the profile has an empty name.
    // The source file, else the module; "" if both are unknown. The module if calls are in several
    // files.
    const char *file;
    uint32_t line; // 0 if unknown or not the same in all calls.
};

struct frame_table {
    const struct profile *p;
    const struct tag_roots *roots;
    struct arena *arena;
    struct frame_row *v;
    size_t count, capacity;
    struct functions functions;
    uint32_t *by_function; // Index plus 1 of the row; 0 = not seen yet.
    struct strtab roots_seen; // Names of frames that are no function.
    uint32_t *by_root;        // By id in roots_seen: index plus 1 of the row; 0 = not seen yet.
    size_t root_capacity;
    uint32_t *stack;                  // Result of the last frame_table_stack.
    size_t stack_capacity;
};

/* Initialise an empty table for STACKS of P, which must be symbolised. ROOTS may add a frame above
 * each stack. Rows and names are from ARENA or borrowed from P. */
void frame_table_init(struct frame_table *t, const struct profile *p, const struct stacks *stacks,
                      const struct tag_roots *roots, struct arena *arena);

/* Free all memory outside ARENA. */
void frame_table_release(struct frame_table *t);

/* Return the rows of S, outermost first, and create missing ones. *RET_COUNT is their number, at
 * least 1. Valid until the next call. Files and lines of rows are final after the calls for all
 * stacks. */
const uint32_t *frame_table_stack(struct frame_table *t, const struct stack *s, size_t *ret_count);

#endif
