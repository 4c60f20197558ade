/* type_fact.h: a fact about the type of a block, and its evidence. */
#ifndef TYPE_TYPE_FACT_H
#define TYPE_TYPE_FACT_H

#include "base/base.h"

/* Evidence for a fact, weakest first. docs/internals/types.md explains what each kind proves. */
enum type_evidence {
    EVIDENCE_NONE = 0,
    EVIDENCE_NAME,        // The statement has the type's name as an argument.
    // A member of the structure that a variable points to is a pointer to the type.
    EVIDENCE_MEMBER,
    EVIDENCE_VARIABLE,    // A variable of the function is a pointer to the type.
    EVIDENCE_RETURN,      // The function returns a pointer to the type.
    EVIDENCE_BEGINS,      // A variable that begins soon after the call is a pointer to the type.
    EVIDENCE_CONSTRUCTOR, // The next call is a constructor of the type.
    EVIDENCE_DECLARED,    // The line of the call declares a pointer to the type.
    EVIDENCE_TARGET,      // The statement assigns the result to a pointer to the type.
    EVIDENCE_SIZEOF,      // The statement has a sizeof of the type.
    EVIDENCE_RESULT,      // A pointer to the type is in the register of the call's result.
    EVIDENCE_CAST,        // The statement casts the result to a pointer to the type.
    EVIDENCE_NEW,         // The statement is new TYPE.
    EVIDENCE_TEMPLATE,    // The allocator is an instance of a template for the type.
};

/* First value that is proof. */
#define EVIDENCE_CERTAIN EVIDENCE_CONSTRUCTOR

struct type_fact {
    const char *name; // Name of the type.
    uint64_t size;    // Size of one object in bytes; 0 = unknown.
    bool is_aggregate;
    bool is_head;         // More is allocated than its size, so it is not an array.
    bool has_tail;        // True if the type ends with an array of open length.
    uint64_t tail_offset; // Offset of that array.
    uint8_t level;        // Frame of the location that provides the fact; 0 = innermost.
    uint8_t evidence;     // enum type_evidence
};

#endif
