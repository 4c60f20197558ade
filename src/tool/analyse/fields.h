/* fields.h: use of the members of a structure, over all its blocks. */
#ifndef ANALYSE_FIELDS_H
#define ANALYSE_FIELDS_H

#include "analyse/stacks.h"

enum { FIELDS_LINE_BYTES = 64 };

/* Counts of one granule of a structure, over all blocks and array elements. */
struct field_counts {
    uint64_t accesses, writes; // All accesses, and the writes among them if counted separately.
    uint64_t blocks, reached;  // Blocks with an access there; blocks that contain the granule.
};

/* A member, or the padding between two members. */
struct field_row {
    const struct profile_member *member; // NULL = padding.
    uint64_t offset, size;
    struct field_counts counts; // Sums over its granules; blocks and reached are their maxima.
    bool together; // The field shares a granule with a neighbour; both have the granule's counts.
};

/* A part of a structure that can move: a member, or all members of a nested structure. */
struct field_part {
    uint64_t offset, size;
    uint32_t alignment;
    uint32_t first_row, row_count; // Rows of the part, padding inside the part included.
    uint64_t accesses, writes;
    bool fixed, together, shared; // True if any row or member in the part has this property.
};

struct field_structure {
    const struct profile_structure *s;
    uint32_t verdict;             // enum profile_verdict: the least certain one at any site.
    uint64_t sites, blocks, bytes; // Blocks whose accesses are known, and their bytes.
    uint64_t elements;            // Number of structures in these blocks, array elements included.
    uint64_t beyond_bytes;        // Bytes beyond the granules that have counters.
    uint64_t beyond_accesses;     // Accesses to these bytes, charged to no member.
    uint64_t accesses, writes;    // To the members.
    uint64_t migrated, dated;     // As in struct profile_access.
    bool folded;                  // Some blocks are arrays of elements of this type.
    bool unproven;                // Uncounted code may have used some of the blocks.
    bool blurred;                 // Elements begin within granules: a count may be a neighbour's.
    struct field_counts *granules; // Granules of granule_bytes each, from the front of the block.
    size_t granule_count;
    struct field_row *rows; // By offset.
    size_t row_count;
    struct field_part *parts; // Parts by offset; the padding between parts is in none.
    size_t part_count;
    uint64_t padding_bytes; // Sum of the rows of padding, nested structures' included.
};

/* A stack whose blocks have no known structure, and so no fields. */
struct field_other {
    const struct stack *stack;
    const char *type; // Type of the blocks, if at least likely; "" = unknown.
    uint64_t blocks, accesses;
};

enum { FIELD_OTHERS_MAX = 3 };

struct fields {
    struct field_structure *v; // Most accesses first, then most bytes.
    size_t count;
    uint32_t granule_bytes;
    uint64_t bytes, accesses;  // Bytes of known structures at known places, and accesses there.
    // Bytes of known structures at unknown places, and accesses there.
    uint64_t beyond_bytes, beyond_accesses;
    // The beyond_ members, plus the amounts of all other blocks.
    uint64_t other_bytes, other_accesses;
    // The most accessed of the other stacks: each has at least FIELD_OTHER_SHARE of all accesses.
    struct field_other largest[FIELD_OTHERS_MAX];
    size_t largest_count;
};

#define FIELD_OTHER_SHARE 0.05

/* Return the name of SITE's type without a suffix such as "[]", interned in P; 0 if unknown. */
uint32_t fields_type_name(struct profile *p, const struct profile_site *site);

/* List the accessed structures of P that are, at least likely, the type of blocks of STACKS.
 * Requires that their names, returned by fields_type_name, were searched for (type/structures.h).
 * From ARENA. */
void fields_build(struct profile *p, const struct stacks *stacks, struct arena *arena,
                  struct fields *ret);

/* Return the share of blocks containing C's granule that touched it, from 0 to 1. */
double field_share(const struct field_counts *c);

/* Return the mean number of cache lines that accesses to a block of F touch if its parts lie at
 * OFFSETS (by part; NULL = the present layout). The mean is over all addresses that malloc may
 * return. It is a lower bound, because the counters store the number of blocks that touched a
 * granule, but not which blocks. */
double fields_lines(const struct field_structure *f, uint32_t granule_bytes,
                    const uint64_t *offsets);

/* --- member_name.c: the member at an offset in a block. */

/* Return the name of the member at byte OFF of a block of SITE in P with SIZE_BYTES: "next",
 * "[3].name + 8". Return NULL if the type of the block or its members are not known. Requires that
 * the names returned by fields_type_name were searched for. From ARENA. */
const char *member_name(struct profile *p, const struct profile_site *site, uint64_t size_bytes,
                        uint64_t off, struct arena *arena);

/* Return the members at V's address: "[3].name + 8", "next"; NULL if there are none. From ARENA. */
const char *member_of_variable(const struct profile *p, const struct variable_members *v,
                               struct arena *arena);

/* --- field_advice.c: advice on the layout of a structure, from the use of its members. */

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
    // Rows that were written and never read; none unless reads are counted separately.
    uint32_t *unread;
    size_t unread_count;
    uint64_t unread_bytes;
    // Rows with one access in each of the blocks in which they were touched: set and never used.
    uint32_t *once;
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
