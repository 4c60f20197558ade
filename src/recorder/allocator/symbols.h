/* symbols.h: the dynamic symbols of loaded objects, read in place.
 *
 * No function here calls the dynamic linker, takes a lock, allocates or changes dlerror. An object
 * must stay loaded while it is read. Objects that the program started with do; for others use
 * symbols_acquire. */
#ifndef ALLOCATOR_SYMBOLS_H
#define ALLOCATOR_SYMBOLS_H

#include <elf.h>
#include <link.h>

#include "base/base.h"

/* The tables of one object. Symbol index 0 means none. */
struct symbols {
    uint64_t base; // Address in memory minus address in the file.
    const Elf64_Sym *table;
    const char *names;
    const uint32_t *gnu_hash, *hash; // NULL = no table of that kind.
    const uint16_t *versions;        // Version of each symbol, by its index; NULL = none.
    const Elf64_Verdef *definitions; // Versions that the object defines; NULL = none.
    const Elf64_Verneed *needs;      // Versions that the object refers to; NULL = none.
    const Elf64_Rela *usual, *calls; // Relocations; those in `calls` may be bound late.
    uint64_t usual_bytes, calls_bytes;
    uint64_t relative_count; // Number of leading relocations in `usual` without a symbol.
};

/* A name to look up, with its version and hashes. */
struct symbols_name {
    const char *text;
    const char *version; // Version of the reference; NULL = the object's default.
    uint32_t gnu_hash, hash;
};

/* Read MAP's tables. Return false if it has no symbols that can be looked up. */
bool symbols_read(const struct link_map *map, struct symbols *ret);

/* Return the name TEXT in VERSION, with its hashes. Both strings are borrowed. */
struct symbols_name symbols_name(const char *text, const char *version);

/* Return the index of O's definition of NAME, by the dynamic linker's rules; 0 if there is none. */
uint32_t symbols_find(const struct symbols *o, const struct symbols_name *name);

/* Return true if the symbol at INDEX is a function. */
bool symbols_is_function(const struct symbols *o, uint32_t index);

/* Return the address of the symbol at INDEX. Calls the resolver of an indirect function. */
void *symbols_address(const struct symbols *o, uint32_t index);

/* Return the version with which O refers to its symbol INDEX; NULL if there is none. */
const char *symbols_needed_version(const struct symbols *o, uint32_t index);

/* Return an upper bound of the index of O's undefined symbols: they are in [1, result). */
uint32_t symbols_references_end(const struct symbols *o);

/* Return the first object in the chain of link maps, the recorder's object, and the last object
 * that the program started with. Up to the last, the chain is in the order of the global scope. The
 * first call determines the results; make it before the program can load any object. */
const struct link_map *symbols_first(void);
const struct link_map *symbols_own(void);
const struct link_map *symbols_last(void);

/* Return the path of the object that defines NAME before the recorder in the global scope: "" = the
 * program itself, NULL = none. */
const char *symbols_defined_before(const char *name);

/* A range of pages that is temporarily writable. */
struct symbols_opened {
    void *start;
    size_t size_bytes; // 0 = the range was already writable.
    int protection;    // The previous protection.
};

/* Make [PLACE, PLACE + SIZE_BYTES) writable until symbols_close. The range is in one segment of the
 * object of SYMBOLS. Return false on failure. No two threads may open the same pages
 * concurrently. */
bool symbols_open(struct symbols_opened *ret, const struct symbols *symbols, const void *place,
                  size_t size_bytes);
void symbols_close(const struct symbols_opened *o);

/* Prevent the unloading of objects until symbols_release. Wait a bounded time for a dlclose in
 * progress. Return false if the dlclose is still in progress then. In both cases the caller must
 * call symbols_release. */
bool symbols_acquire(void);
void symbols_release(void);

/* Begin and end an unloading: call before and after the program's dlclose. symbols_unload_begins
 * waits a bounded time for threads that are between symbols_acquire and symbols_release. */
void symbols_unload_begins(void);
void symbols_unload_ends(void);

/* Run FUNCTION while no object can be loaded or unloaded. Use dl_iterate_phdr of LIBC, glibc's
 * object, which waits for a lock that dlclose takes. So call only in a thread that is about to call
 * dlclose. Return false if LIBC lacks dl_iterate_phdr. */
bool symbols_run_locked(const struct link_map *libc, void (*function)(void));

#endif
