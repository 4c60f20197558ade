/* structure.h: layout of a structure type of blocks. */
#ifndef PROFILE_STRUCTURE_H
#define PROFILE_STRUCTURE_H

#include "base/base.h"

/* A member, or a member of a nested structure: "next", "list.next". A union, an array or a type of
 * the C++ library is one member. */
struct profile_member {
    uint32_t name; // String.
    uint32_t type; // String: the type as in a declaration.
    // Offset and size in bytes. For a bit-field, those of the bytes that contain it.
    uint64_t offset, size;
    uint32_t alignment;    // Alignment required by its type; at least 1.
    uint32_t bits;         // Width of a bit-field; else 0.
    // Members of one part (a nested structure, a group of bit-fields) can only move together.
    uint32_t part;
    // Location of the nested structure that is the part, with its padding; size 0 = none.
    uint64_t part_offset, part_size;
    uint32_t part_alignment;
    bool may_be_empty;     // A one-byte structure, which may have an address but no data.
    // A base class or the pointer to virtual functions, which cannot be moved.
    bool fixed;
    bool shared;           // Atomic, or a lock: several threads access it.
};

struct profile_structure {
    uint32_t name; // String: the same as the type of a site, without "[]".
    uint64_t size;
    uint32_t alignment;
    bool is_union;    // If true, the union itself is the only member.
    bool is_complete; // All members are known, with their sizes and alignments.
    struct profile_member *members; // By offset; none reaches beyond size.
    size_t member_count;
};

/* The place of an address in a variable, and the variable's type. */
struct variable_members {
    uint64_t off;           // Offset of the address in the variable.
    uint64_t element_bytes; // Size of an element if the variable is an array; else 0.
    // Type of the variable or of its elements; size 0 = no structure.
    struct profile_structure structure;
};

#endif
