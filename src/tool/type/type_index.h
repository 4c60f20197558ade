/* type_index.h: the types of one module, by size. Includes elfutils' headers. */
#ifndef TYPE_TYPE_INDEX_H
#define TYPE_TYPE_INDEX_H

#include "symbol/debuginfo.h"
#include "util/map.h"

struct type_entry {
    uint32_t name; // Id in `names`.
    uint64_t size; // In bytes; from 1 to UINT32_MAX.
};

/* The types of a module. {0} is empty. */
struct type_index {
    struct strtab names;
    struct arena arena;
    struct type_entry *v; // By size, then by name.
    size_t count, capacity;
};

/* Fill the empty INDEX with all structures, unions and classes of D, and their typedef names; each
 * name once per size. */
void type_index_build(struct type_index *index, struct debuginfo *d);

/* Append a type, for readers of a stored index, which is already sorted. */
void type_index_add(struct type_index *index, const char *name, uint64_t size);

/* Return the index of the first entry of at least SIZE bytes; index->count if there is none. */
size_t type_index_find(const struct type_index *index, uint64_t size);

/* Free all memory of INDEX; INDEX is empty ({0}) afterwards. */
void type_index_release(struct type_index *index);

/* Return true if INDEX is sorted and its sizes and names are valid. Only reads; see
 * util/ensure.h. */
bool type_index_is_valid(const struct type_index *index);

#endif
