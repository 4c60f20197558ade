/* caller_spread.h: shared by the files that distribute short stacks; see caller_shares.c. */
#ifndef PROFILE_CALLER_SPREAD_H
#define PROFILE_CALLER_SPREAD_H

#include "profile/profile.h"

/* Counts that are distributed by separate fractions. */
enum column {
    COLUMN_ALLOCATIONS,
    COLUMN_ALLOCATED_BYTES,
    COLUMN_LIVE_BLOCKS,
    COLUMN_LIVE_BYTES,
    COLUMN_PEAK_BLOCKS,
    COLUMN_PEAK_BYTES,
    COLUMN_REALLOCATIONS,
    COLUMN_MOVED,
    COLUMN_GROWN_BYTES,
    COLUMN_TEMPORARY,
    COLUMN_ENDED_16,
    COLUMN_ENDED_256,
    COLUMNS
};
static_assert((int)COLUMN_PEAK_BYTES == (int)SHARE_PEAK_BYTES, "the columns of shares come first");

#define NO_THREAD UINT32_MAX

/* The whole stacks of a short one, in one size class, heap, set of labels and share of callers. */
struct cell {
    uint32_t group;
    uint32_t site;                // The short stack's.
    uint32_t *members;            // The whole stacks' sites.
    size_t count, capacity;
    double *boundaries[COLUMNS];  // count + 1 each.
    int64_t done[COLUMNS];        // Distributed so far.
};

enum { AMOUNTS = 4 }; // Members of struct profile_amounts.

/* A member's part of a row: the amounts, and how much of them earlier changes have. */
struct part {
    int64_t total[AMOUNTS], given[AMOUNTS];
};

/* A row of a short stack. PARTS is by member; NULL if its changes do not add up to its counters, as
 * in a damaged file. */
struct spread_row {
    struct part *parts;
    int64_t total[AMOUNTS], done[AMOUNTS];
};

struct spreader {
    struct profile *p;
    bool keep; // Keep the sites of short stacks.
    struct arena arena;
    bool *is_short;      // By node: of a short stack.
    struct map children; // The tree of sites: place and location to the caller's place.
    uint32_t *groups;    // By place: its group, 0 = none.
    size_t place_capacity, place_count;
    uint32_t *group_of;  // By node of a whole stack: its group, plus 1; 0 = not yet known.
    struct cell *cells;
    size_t cell_count, cell_capacity;
    struct map cell_of;  // cell_key to cell.
    uint32_t *cell_of_site; // By site of a short stack: cell plus 1.
    struct map rows;     // Thread and site to row.
    size_t row_capacity, row_counter_capacity;
    struct spread_row *spread_rows; // By row of the profile; NULL without a history.
    double *weights;                // Room for two numbers by member.
    int64_t *shares;                // Room for AMOUNTS numbers by member.
    struct profile_change *changes;
    size_t change_count, change_capacity;
};

/* --- caller_cells.c: groups, cells, fractions and rows. */

/* Return the part of AMOUNT that lies below the fraction BOUNDARY of it, rounded down: the parts
 * between successive boundaries, from 0 to 1, add up to AMOUNT. */
int64_t callers_cut(double boundary, int64_t amount);

/* Find the cells of S's profile, the whole stacks of each, and their fractions. Return false if
 * there are no short stacks. */
bool callers_find_cells(struct spreader *s);

/* Return the group of the whole stack NODE; 0 = none. The frames of languages are no part of a
 * site. */
uint32_t callers_group_of_whole(struct spreader *s, uint32_t node);

int64_t callers_value(const struct counters *c, enum column column);

/* Return how many blocks decide the fraction of COLUMN at member I of C. */
double callers_sampled(const struct spreader *s, const struct cell *c, size_t i,
                       enum column column);

/* Return member I's share of AMOUNT in COLUMN of C, which DONE was distributed before. */
int64_t callers_share_of(const struct cell *c, size_t i, enum column column, int64_t done,
                         int64_t amount);

/* Return member I's share of K, the counters of a row at C's short stack. */
struct counters callers_share(const struct cell *c, size_t i, const struct counters *k);

/* Return the row of THREAD at SITE, made if it is new. */
uint32_t callers_row(struct spreader *s, uint32_t thread, uint32_t site);

/* --- caller_history.c: changes over time. */

/* Set PARTS of the rows whose changes add up to their counters and are counts of events. */
void callers_make_parts(struct spreader *s);

/* Set the totals of ROW's parts from the shares of K, the row's counters in C. */
void callers_set_parts(const struct cell *c, struct spread_row *row, const struct counters *k);

/* Replace the changes of rows at distributed short stacks by changes of their members. BEFORE has,
 * by row, the amounts distributed before it. */
void callers_spread_changes(struct spreader *s, struct profile_amounts *before);

/* --- caller_errors.c: errors of shares. */

/* Set the errors of all shares, before anything is distributed. The sums of a group include all its
 * cells, whose stacks views add up. */
void callers_set_errors(struct spreader *s);

#endif
