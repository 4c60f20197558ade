/* symbols.h: the dynamic symbols of loaded objects, read in place.
 *
 * Nothing here calls the dynamic linker, takes a lock, allocates or touches dlerror. An object must
 * stay loaded while it is read. Objects that the program started with do; for others see
 * symbols_hold. */
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
    const uint32_t *gnu_hash, *hash; // NULL = it has no table of that kind.
    const uint16_t *versions;        // By index; NULL = the object has no versions.
    const Elf64_Verdef *definitions; // Versions that it defines; NULL = none.
    const Elf64_Verneed *needs;      // Versions that it refers to; NULL = none.
    const Elf64_Rela *usual, *calls; // Relocations; those in `calls` may be bound late.
    uint64_t usual_bytes, calls_bytes;
    uint64_t relative_count; // The first ones of `usual`, which name no symbol.
};

/* A name to look up. */
struct symbols_name {
    const char *text;
    const char *version; // The reference's; NULL = the object's default.
    uint32_t gnu_hash, hash;
};

/* Read MAP's tables. Return false if it has no symbols that can be looked up. */
bool symbols_read(const struct link_map *map, struct symbols *ret);

/* Return TEXT in VERSION, both borrowed, with the hashes of TEXT. */
struct symbols_name symbols_name(const char *text, const char *version);

/* Return the index of O's definition of NAME, by the dynamic linker's rules; 0 if there is none. */
uint32_t symbols_find(const struct symbols *o, const struct symbols_name *name);

/* Return true if that symbol is a function. */
bool symbols_is_function(const struct symbols *o, uint32_t index);

/* Return the address of that symbol. Calls the resolver of an indirect function. */
void *symbols_address(const struct symbols *o, uint32_t index);

/* Return the version with which O refers to its symbol INDEX; NULL if there is none. */
const char *symbols_needed_version(const struct symbols *o, uint32_t index);

/* Return an upper bound: O's symbols that are mere references have indexes [1, result). */
uint32_t symbols_references_end(const struct symbols *o);

/* Return the first object in the chain of link maps, the recorder's object, and the last object
 * that the program started with. Up to the last, the chain is in the order of the global scope. The
 * first call determines the results; it must come before the program can load anything. */
const struct link_map *symbols_first(void);
const struct link_map *symbols_own(void);
const struct link_map *symbols_last(void);

/* A range of pages that is writable for a while. */
struct symbols_opened {
    void *start;
    size_t size_bytes; // 0 = it was writable before.
    int protection;    // The former protection.
};

/* Make [PLACE, PLACE + SIZE_BYTES), in one segment of the object of SYMBOLS, writable until
 * symbols_close. Return false on failure. No other thread may do so with the same pages. */
bool symbols_open(struct symbols_opened *ret, const struct symbols *symbols, const void *place,
                  size_t size_bytes);
void symbols_close(const struct symbols_opened *o);

/* Prevent unloading until symbols_release. Waits a bounded time for an unloading in progress. */
void symbols_hold(void);
void symbols_release(void);

/* Call before and after the program's dlclose. symbols_unload_begins waits a bounded time for
 * threads that hold. */
void symbols_unload_begins(void);
void symbols_unload_ends(void);

#endif
