/* type_valid.c: an index that can be searched by size, whether it was made or read. */
#include "type/type_valid.h"

#include <string.h>

#include "util/ensure.h"

bool
type_index_is_valid(const struct type_index *index)
{
    if (!strtab_is_valid(&index->names))
        return false;
    for (size_t i = 0; i < index->count; i++) {
        const struct type_entry *e = &index->v[i];
        int order;

        HOLDS(e->name < index->names.count);          // Its name was interned.
        HOLDS(e->size >= 1 && e->size <= UINT32_MAX); // Others are no types that are allocated.
        if (i == 0)
            continue;
        order = strcmp(index->names.strings[e[-1].name], index->names.strings[e->name]);
        HOLDS(e[-1].size <= e->size);              // A size is found by halving,
        HOLDS(e[-1].size < e->size || order <= 0); // and its types come in the same order always.
    }
    return true;
}
