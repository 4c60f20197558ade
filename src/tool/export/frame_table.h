/* frame_table.h: the functions in a profile's stacks as one table, for formats whose stacks are row
 * numbers. */
#ifndef EXPORT_FRAME_TABLE_H
#define EXPORT_FRAME_TABLE_H

#include "analyse/stacks.h"
#include "util/strbuf.h"

struct frame_row {
    const char *name; // Never empty, unless the profile has such a name.
    const char *file; // The source file, else the module; "" = neither is known.
    uint32_t line;    // 0 if unknown or not the same in all calls.
};

struct frame_table {
    const struct profile *p;
    const struct tag_roots *roots;
    struct arena *arena;
    struct frame_row *v;
    size_t count, capacity;
    struct strtab keys; // Text of a row, to its index.
    struct strbuf key;
    uint32_t *by_frame, *by_location; // Index plus 1 of each frame seen; 0 = not seen yet.
    uint32_t *stack;                  // Latest result of frame_table_stack.
    size_t stack_capacity;
};

/* Initialise an empty table for P, which must be symbolised. ROOTS may add a frame above each
 * stack. Rows and names are from ARENA or borrowed from P. */
void frame_table_init(struct frame_table *t, const struct profile *p, const struct tag_roots *roots,
                      struct arena *arena);

/* Frees all memory outside ARENA. */
void frame_table_release(struct frame_table *t);

/* Return the rows of S, outermost first, made if new; *RET_COUNT of them, at least 1. Valid until
 * the next call. A row is complete after the calls for all stacks. */
const uint32_t *frame_table_stack(struct frame_table *t, const struct stack *s, size_t *ret_count);

#endif
