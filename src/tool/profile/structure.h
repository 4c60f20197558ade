/* structure.h: layout of a type that blocks have. */
#ifndef PROFILE_STRUCTURE_H
#define PROFILE_STRUCTURE_H

#include "base/base.h"

/* A member, or a member of a nested structure: "next", "list.next". A union, an array or a type of
 * the C++ library is one member. */
struct profile_member {
    uint32_t name; // String.
    uint32_t type; // String: as a declaration would name it.
    uint64_t offset, size; // In bytes; of bit-fields the bytes that they touch.
    uint32_t alignment;    // Required by its type; at least 1.
    uint32_t bits;         // Width of a bit-field; else 0.
    uint32_t part;         // Members of one part (a structure inside, bit-fields) move together.
    // The nested structure that contains the part, with its padding; size 0 = none.
    uint64_t part_offset, part_size;
    uint32_t part_alignment;
    bool may_be_empty;     // A structure of one byte, which may be no more than an address.
    bool fixed;            // A base class or the pointer to virtual functions: it cannot be moved.
    bool shared;           // Atomic, or a lock: threads use it together.
};

struct profile_structure {
    uint32_t name; // String, as the type of a site has it, without "[]".
    uint64_t size;
    uint32_t alignment;
    bool is_union;    // Then it has one member.
    bool is_complete; // All members are known, with their sizes and alignments.
    struct profile_member *members; // By offset; none reaches beyond size.
    size_t member_count;
};

#endif
