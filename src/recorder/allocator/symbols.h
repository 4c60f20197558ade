/* symbols.h: the dynamic symbols of loaded objects, read where they lie.
 *
 * Nothing here calls the dynamic linker, takes a lock, allocates or touches dlerror. What is read
 * must stay loaded meanwhile: objects that the program started with do; for others see
 * symbols_hold.
 */
#ifndef ALLOCATOR_SYMBOLS_H
#define ALLOCATOR_SYMBOLS_H

#include <elf.h>
#include <link.h>

#include "base/base.h"

/* One object. The symbol at index 0 of a table means none. */
struct symbols {
    uint64_t base; // Address in memory minus address in the file.
    const Elf64_Sym *table;
    const char *names;
    const uint32_t *gnu_hash, *hash; // NULL = it has none of that kind.
    const uint16_t *versions;        // By index; NULL = the object has no versions.
    const Elf64_Verdef *definitions; // Of versions; NULL = none.
    const Elf64_Verneed *needs;      // Versions that it refers to; NULL = none.
    const Elf64_Rela *usual, *calls; // Relocations; those of calls may be bound late.
    uint64_t usual_bytes, calls_bytes;
    uint64_t relative_count; // Of the first of `usual`, which name no symbol.
};

/* A name to be looked for. */
struct symbols_name {
    const char *text;
    const char *version; // Of the reference; NULL = whatever the object has by default.
    uint32_t gnu_hash, hash;
};

/* MAP's tables. False if it has no symbols that can be looked up. */
bool symbols_read(const struct link_map *map, struct symbols *ret);

/* TEXT in VERSION, both borrowed, with the hashes of TEXT. */
struct symbols_name symbols_name(const char *text, const char *version);

/* The index of the symbol by which O defines NAME, as the dynamic linker would accept it; 0 if it
 * does not. */
uint32_t symbols_find(const struct symbols *o, const struct symbols_name *name);

/* Whether that symbol is a function. */
bool symbols_is_function(const struct symbols *o, uint32_t index);

/* Where that symbol is in memory. */
void *symbols_address(const struct symbols *o, uint32_t index);

/* The version by which O refers to its symbol INDEX; NULL if by none. */
const char *symbols_needed_version(const struct symbols *o, uint32_t index);

/* Symbols [1, this) of O are those that it only refers to, and maybe more. */
uint32_t symbols_references_end(const struct symbols *o);

/* The first object in the chain of link maps, the recorder's own, and the last that the program
 * started with: up to there the chain is in the order of the global scope. The first call decides;
 * it must come before the program can load anything. */
const struct link_map *symbols_first(void);
const struct link_map *symbols_own(void);
const struct link_map *symbols_last(void);

/* A range of pages that can be written to. */
struct symbols_opened {
    void *start;
    size_t size_bytes; // 0 = it could be before.
    int protection;    // What it had.
};

/* Make [PLACE, PLACE + SIZE_BYTES), in one segment of the object of SYMBOLS, writable until
 * symbols_close. False if that cannot be. Nobody must be doing so with the same pages. */
bool symbols_open(struct symbols_opened *ret, const struct symbols *symbols, const void *place,
                  size_t size_bytes);
void symbols_close(const struct symbols_opened *o);

/* Let nobody unload anything until symbols_release. Waits a bounded while for an unloading that is
 * under way. */
void symbols_hold(void);
void symbols_release(void);

/* To be called before and after the program's dlclose. The first waits a bounded while until nobody
 * holds what might be unloaded. */
void symbols_unload_begins(void);
void symbols_unload_ends(void);

#endif
