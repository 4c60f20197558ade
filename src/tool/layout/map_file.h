/* map_file.h: read function names from the output of linkers and nm, for programs in unreadable
 * formats. */
#ifndef LAYOUT_MAP_FILE_H
#define LAYOUT_MAP_FILE_H

#include "util/arena.h"

struct map_name {
    uint64_t address;
    const char *name;
};

/* Names by address. {0} is empty. */
struct map_names {
    struct map_name *v; // By address, once read. The array and the names are from the arena.
    size_t count, capacity;
};

/* Read the SIZE_BYTES of TEXT: lines of nm (ADDRESS [SIZE] LETTER NAME, only functions), of GNU
 * ld's map (ADDRESS NAME) or of armlink's (NAME ADDRESS ... Code ...). Other lines are ignored. */
void map_file_parse(const char *text, size_t size_bytes, struct arena *arena,
                    struct map_names *ret);

/* Return the name of the last function that begins at or before ADDRESS; NULL if there is none. */
const char *map_file_name(const struct map_names *names, uint64_t address);

#endif
