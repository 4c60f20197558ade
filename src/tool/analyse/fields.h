/* fields.h: how the members of a structure were used, over all its blocks. */
#ifndef ANALYSE_FIELDS_H
#define ANALYSE_FIELDS_H

#include "analyse/stacks.h"

enum { FIELDS_LINE_BYTES = 64 };

/* What was counted of one place, over all blocks (and elements of arrays) of a structure. */
struct field_counts {
    uint64_t accesses, writes; // Reads are what is left; only known if counted apart.
    uint64_t blocks, reached;  // Blocks that had an access; that have the place.
};

/* A member, or bytes that no member has. */
struct field_row {
    const struct profile_member *member; // NULL = padding.
    uint64_t offset, size;
    struct field_counts counts; // Of its granules: sums, but for blocks and reached, the most.
    bool together; // One of its granules is also a neighbour's, who has its counts too.
};

/* A part of a structure that can be moved by itself: a member, or those of one inside. */
struct field_part {
    uint64_t offset, size;
    uint32_t alignment;
    uint32_t first_row, row_count; // Rows, its own padding included.
    uint64_t accesses, writes;
    bool fixed, together, shared; // As rows and members are, of any of it.
};

struct field_structure {
    const struct profile_structure *s;
    uint32_t verdict;             // enum profile_verdict: the least sure of its sites'.
    uint64_t sites, blocks, bytes; // Blocks whose accesses are known, and their bytes.
    uint64_t elements;            // Structures in these blocks; more if they are arrays.
    uint64_t accesses, writes;    // To the members.
    uint64_t migrated, dated;     // As in struct profile_access.
    bool folded;                  // Some blocks are arrays, of which the elements are one.
    bool blurred;                 // Elements begin within granules: counts may be a neighbour's.
    struct field_counts *granules; // Of granule_bytes each, from the front.
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
    const char *type; // What is known of it all the same; "" = nothing.
    uint64_t blocks, accesses;
};

enum { FIELD_OTHERS_MAX = 3 };

struct fields {
    struct field_structure *v; // Most accesses first, then most bytes.
    size_t count;
    uint32_t granule_bytes;
    uint64_t bytes, accesses;  // Of blocks that have such a type.
    uint64_t other_bytes, other_accesses; // Of all others whose accesses are known.
    struct field_other largest[FIELD_OTHERS_MAX]; // Of these, most accesses first: those with
    size_t largest_count;                         // FIELD_OTHER_SHARE of all, or more.
};

#define FIELD_OTHER_SHARE 0.05

/* The name of the type of SITE without "[]" and the like, interned in P; 0 if it is unknown. */
uint32_t fields_type_name(struct profile *p, const struct profile_site *site);

/* The structures of P that blocks of STACKS are, likely at least, and that were accessed. Their
 * names, as fields_type_name gives them, must have been looked for (type/structures.h). From ARENA.
 */
void fields_build(struct profile *p, const struct stacks *stacks, struct arena *arena,
                  struct fields *ret);

/* The share of blocks that had an access where C was counted, from 0 to 1. */
double field_share(const struct field_counts *c);

/* How many cache lines of a block of F are touched, on average, if its parts lie at OFFSETS (by
 * part; NULL = as they do): at least that many, for it is known of each granule how many blocks
 * touched it, not which. The mean of where malloc may put a block. */
double fields_lines(const struct field_structure *f, uint32_t granule_bytes,
                    const uint64_t *offsets);

#endif
