/* fields.h: how the members of a structure were used, over all its blocks. */
#ifndef ANALYSE_FIELDS_H
#define ANALYSE_FIELDS_H

#include "analyse/stacks.h"

enum { FIELDS_LINE_BYTES = 64 };

/* Counts of one place, over all blocks (and array elements) of a structure. */
struct field_counts {
    uint64_t accesses, writes; // Reads are the remainder; only if counted separately.
    uint64_t blocks, reached;  // Blocks with an access there; blocks that have the place.
};

/* A member, or bytes that no member has. */
struct field_row {
    const struct profile_member *member; // NULL = padding.
    uint64_t offset, size;
    struct field_counts counts; // Sums over its granules; for blocks and reached, the maximum.
    bool together; // It shares a granule with a neighbour, and both hold the granule's counts.
};

/* A part of a structure that can move: a member, or all members of a nested structure. */
struct field_part {
    uint64_t offset, size;
    uint32_t alignment;
    uint32_t first_row, row_count; // Rows, its own padding included.
    uint64_t accesses, writes;
    bool fixed, together, shared; // True if any of its rows or members is.
};

struct field_structure {
    const struct profile_structure *s;
    uint32_t verdict;             // enum profile_verdict: the least certain verdict at the sites.
    uint64_t sites, blocks, bytes; // Blocks whose accesses are known, and their bytes.
    uint64_t elements;            // Structures in these blocks; more if they are arrays.
    uint64_t beyond_bytes;        // Behind the granules of a block that have separate counts.
    uint64_t beyond_accesses;     // To these bytes; no member has them.
    uint64_t accesses, writes;    // To the members.
    uint64_t migrated, dated;     // As in struct profile_access.
    bool folded;                  // Some blocks are arrays of elements of this type.
    bool blurred;                 // Elements begin within granules: counts may be a neighbour's.
    struct field_counts *granules; // granule_bytes each, from the front of the block.
    size_t granule_count;
    struct field_row *rows; // By offset.
    size_t row_count;
    struct field_part *parts; // By offset; without padding between them.
    size_t part_count;
    uint64_t padding_bytes;
};

/* A stack whose blocks have no structure that is known, and so no fields. */
struct field_other {
    const struct stack *stack;
    const char *type; // Known facts all the same; "" = none.
    uint64_t blocks, accesses;
};

enum { FIELD_OTHERS_MAX = 3 };

struct fields {
    struct field_structure *v; // Most accesses first, then most bytes.
    size_t count;
    uint32_t granule_bytes;
    uint64_t bytes, accesses;  // Accesses to structures, where places are known.
    uint64_t beyond_bytes, beyond_accesses; // Accesses to structures, where places are not known.
    uint64_t other_bytes, other_accesses; // Those beyond, and of all other blocks with counts.
    struct field_other largest[FIELD_OTHERS_MAX]; // The most accessed of these: those with
    size_t largest_count;                         // FIELD_OTHER_SHARE of all, or more.
};

#define FIELD_OTHER_SHARE 0.05

/* Return the name of the type of SITE without "[]" and the like, interned in P; 0 if it is
 * unknown. */
uint32_t fields_type_name(struct profile *p, const struct profile_site *site);

/* List the accessed structures of P that are the type of blocks of STACKS, at least likely.
 * Requires that their names, as fields_type_name returns them, have been searched for
 * (type/structures.h). From ARENA. */
void fields_build(struct profile *p, const struct stacks *stacks, struct arena *arena,
                  struct fields *ret);

/* Return the share of blocks that had an access where C was counted, from 0 to 1. */
double field_share(const struct field_counts *c);

/* Return how many cache lines of a block of F are touched on average if its parts lie at OFFSETS
 * (by part; NULL = the present layout). Averages over the addresses where malloc may put a block. A
 * lower bound: the counters store how many blocks touched a granule, not which. */
double fields_lines(const struct field_structure *f, uint32_t granule_bytes,
                    const uint64_t *offsets);

#endif
