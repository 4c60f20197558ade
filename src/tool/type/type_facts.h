/* type_facts.h: facts from debug information and source text about the block that a call
 * returns. */
#ifndef TYPE_TYPE_FACTS_H
#define TYPE_TYPE_FACTS_H

#include "symbol/symbol_frame.h"
#include "type/type_fact.h"
#include "util/arena.h"

/* Increment with each change of the collected facts, because files store them (fact_cache.h). */
enum { TYPE_FACTS_VERSION = 3 };

/* Text of a frame's statement; source is NULL if there is none. */
struct type_statement {
    const char *source;
    size_t size_bytes;
    const char *file;   // As in debug information; NULL if unknown.
    uint32_t line;      // 0 = unknown.
    const char *callee; // Function called there; NULL = an allocation function.
};

struct type_facts {
    struct type_fact *v;
    size_t count, capacity;
    size_t level_count;                 // Frames; 0 = no debug information there.
    bool takes_size[SYMBOL_FRAMES_MAX]; // By level: it has a parameter that may be a size.
    bool passes_on[SYMBOL_FRAMES_MAX];  // By level: it returns memory of a possibly unknown type.
};

struct debuginfo;
struct type_finder;

/* Return the caller frees it before D is closed. Results live as long as ARENA. */
struct type_finder *type_finder_new(struct debuginfo *d, struct arena *arena);
void type_finder_free(struct type_finder *f);

/* Collect the facts about the result of the call that returns to RETURN_ADDRESS (in DWARF's terms)
 * into *RET. STATEMENTS has one entry for each of the COUNT frames there, innermost first. */
void type_facts_find(struct type_finder *f, uint64_t return_address,
                     const struct type_statement *statements, size_t count, struct type_facts *ret);

#endif
