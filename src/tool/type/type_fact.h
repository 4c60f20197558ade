/* type_fact.h: a fact about the type of a block, and its evidence. */
#ifndef TYPE_TYPE_FACT_H
#define TYPE_TYPE_FACT_H

#include "base/base.h"

/* Evidence for a fact, the weakest first. docs/internals/types.md explains what each proves. */
enum type_evidence {
    EVIDENCE_NONE = 0,
    EVIDENCE_NAME,        // The statement has the type's name among the arguments.
    EVIDENCE_MEMBER,      // A member of the structure that a variable points to.
    EVIDENCE_VARIABLE,    // A variable of the function points to it.
    EVIDENCE_RETURN,      // The function returns a pointer to it.
    EVIDENCE_BEGINS,      // A variable gets its value soon after the call.
    EVIDENCE_CONSTRUCTOR, // The next call is its constructor.
    EVIDENCE_DECLARED,    // A pointer to it is declared in the line of the call.
    EVIDENCE_TARGET,      // The statement assigns the result to a pointer to it.
    EVIDENCE_SIZEOF,      // The statement has its sizeof.
    EVIDENCE_RESULT,      // A pointer to it lives where the call returns its result.
    EVIDENCE_CAST,        // The statement converts the result.
    EVIDENCE_NEW,         // The statement is new TYPE.
    EVIDENCE_TEMPLATE,    // The allocator is an instance of a template for it.
};

/* First value that is a proof. */
#define EVIDENCE_CERTAIN EVIDENCE_CONSTRUCTOR

struct type_fact {
    const char *name; // Size of the type, not of an array of it.
    uint64_t size;    // 0 = unknown.
    bool is_aggregate;
    bool is_head;         // Something was added to its size: it is no array.
    bool has_tail;        // Ends with an array of open length.
    uint64_t tail_offset; // Where that begins.
    uint8_t level;        // Frame of the location that provides it, 0 = innermost.
    uint8_t evidence;     // enum type_evidence
};

#endif
