/* symbol_table.h: the symbols of a module, by address. */
#ifndef SYMBOL_SYMBOL_TABLE_H
#define SYMBOL_SYMBOL_TABLE_H

#include "symbol/ranges.h"
#include "util/arena.h"

struct Dwfl_Module; // Defined by libdwfl.

struct symbol {
    const char *name;
    uint64_t low;
    bool sized;
    uint8_t rank; // Derived from binding and type; a larger rank is better.
};

/* Zeroed before the first use. */
struct symbol_table {
    bool loaded; // The other fields are valid.
    struct symbol *v;
    size_t count, capacity;
    struct ranges ranges; // Ranges to indices of v.
};

/* Return the best symbol at ADDRESS, or NULL. The first call loads the symbols of MODULE into T,
 * with memory of ARENA. Names live as long as MODULE. */
const struct symbol *symbol_table_find(struct symbol_table *t, struct Dwfl_Module *module,
                                       uint64_t address, struct arena *arena);

#endif
