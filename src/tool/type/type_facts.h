/* type_facts.h: what debug information and source text say about the block that a call returns. */
#ifndef SYMBOL_TYPE_FACTS_H
#define SYMBOL_TYPE_FACTS_H

#include "symbol/symbol_frame.h"
#include "util/arena.h"

/* How a fact is known, the weakest first. docs/internals/types.md says what each proves. */
enum type_evidence {
    EVIDENCE_NONE = 0,
    EVIDENCE_NAME,        // The statement has the type's name among the arguments.
    EVIDENCE_MEMBER,      // A member of what a variable of the function points to.
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

/* The first that proves what it says. */
#define EVIDENCE_CERTAIN EVIDENCE_CONSTRUCTOR

struct type_fact {
    const char *name; // Of the type; not of an array of it.
    uint64_t size;    // 0 = unknown.
    bool is_aggregate;
    bool is_head;         // Something was added to its size: it is no array.
    bool has_tail;        // Ends with an array of open length.
    uint64_t tail_offset; // Where that begins.
    uint8_t level;        // The frame of the location that tells it, 0 the innermost.
    uint8_t evidence;     // enum type_evidence
};

/* The text of the statement in which a frame stands; source is NULL if there is none. */
struct type_statement {
    const char *source;
    size_t size_bytes;
    const char *file;   // As in debug information; NULL if unknown.
    uint32_t line;      // 0 = unknown.
    const char *callee; // What is called there; NULL = an allocation function.
};

struct type_facts {
    struct type_fact *v;
    size_t count, capacity;
    size_t level_count;                 // Frames; 0 = no debug information there.
    bool takes_size[SYMBOL_FRAMES_MAX]; // By level: it has a parameter that may be a size.
    bool passes_on[SYMBOL_FRAMES_MAX];  // By level: it returns memory of a type it need not know.
};

struct debuginfo;
struct type_finder;

/* Owned. D must outlive it; what it gives out lives as long as ARENA. */
struct type_finder *type_finder_new(struct debuginfo *d, struct arena *arena);
void type_finder_free(struct type_finder *f);

/* What is known of the result of the call that returns to RETURN_ADDRESS (in DWARF's terms).
 * STATEMENTS has one entry for each of the COUNT frames there, innermost first. */
void type_facts_find(struct type_finder *f, uint64_t return_address,
                     const struct type_statement *statements, size_t count, struct type_facts *ret);

#endif
