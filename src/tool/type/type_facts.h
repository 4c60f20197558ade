/* type_facts.h: collect facts about the block that a call returns, from debug information and
 * source text. */
#ifndef TYPE_TYPE_FACTS_H
#define TYPE_TYPE_FACTS_H

#include "symbol/symbol_frame.h"
#include "type/type_fact.h"
#include "util/arena.h"

/* Version of the collected facts. Increment it with each change, because files store facts
 * (fact_cache.h). */
enum { TYPE_FACTS_VERSION = 3 };

/* Source position of a frame's statement. `source` is NULL if there is none. */
struct type_statement {
    const char *source;
    size_t size_bytes;
    const char *file;   // Path as in debug information; NULL if unknown.
    uint32_t line;      // 0 = unknown.
    const char *callee; // Function that the statement calls; NULL = an allocation function.
};

struct type_facts {
    struct type_fact *v;
    size_t count, capacity;
    // Number of frames; 0 = no debug information for the address.
    size_t level_count;
    // By level: the function has a parameter that may be a size.
    bool takes_size[SYMBOL_FRAMES_MAX];
    // By level: the function returns memory whose type it may not know.
    bool passes_on[SYMBOL_FRAMES_MAX];
};

struct debuginfo;
struct type_finder;

/* Return a finder for D, which the caller frees before D is closed. Results live as long as
 * ARENA. */
struct type_finder *type_finder_new(struct debuginfo *d, struct arena *arena);
void type_finder_free(struct type_finder *f);

/* Collect the facts about the result of the call that returns to RETURN_ADDRESS (an address in
 * DWARF's file) into *RET. STATEMENTS has one entry for each of the COUNT frames of the call,
 * innermost first. */
void type_facts_find(struct type_finder *f, uint64_t return_address,
                     const struct type_statement *statements, size_t count, struct type_facts *ret);

#endif
