/* field_advice.h: advice on the layout of a structure, from the use of its members. */
#ifndef ANALYSE_FIELD_ADVICE_H
#define ANALYSE_FIELD_ADVICE_H

#include "analyse/fields.h"

/* The hot parts of a structure have at least this share of its accesses. */
#define FIELD_HOT_SHARE 0.9

/* A cache line in which one part is written (or shared by threads) and another is read. If
 * different threads do so at the same time, the line moves back and forth between their caches. */
struct field_conflict {
    uint64_t line;           // Index of the line, from the front of the block.
    uint32_t written, read;  // Indices of parts.
};

enum { FIELD_CONFLICTS_MAX = 8 };

struct field_advice {
    uint32_t *untouched; // Rows without any access, in order.
    size_t untouched_count;
    uint64_t untouched_bytes;
    uint32_t *unread; // Rows that were written and never read; none unless reads are counted
                      // separately.
    size_t unread_count;
    uint64_t unread_bytes;
    uint32_t *once; // Rows with one access in each block that touched them: set once and never
                    // used.
    size_t once_count;
    uint64_t once_bytes;
    uint32_t *hot; // Parts with FIELD_HOT_SHARE of the accesses, most accesses per byte first.
    size_t hot_count;
    uint64_t hot_bytes;
    uint64_t hot_lines, hot_lines_least; // Lines that they occupy, and the fewest possible.
    // A better order, if there is one: parts from the front, the offset of each (by part), and the
    // effect.
    uint32_t *order;
    size_t order_count; // 0 = no better order.
    uint64_t *offsets;
    uint64_t new_size, new_hot_lines;
    double lines, new_lines; // Results of fields_lines for the present and the new layout.
    struct field_conflict conflicts[FIELD_CONFLICTS_MAX];
    size_t conflict_count;
};

/* Find the advice on F, an element of FIELDS, of P. From ARENA. */
void field_advise(const struct profile *p, const struct fields *fields,
                  const struct field_structure *f, struct arena *arena, struct field_advice *ret);

#endif
