/* tool_types.c: print the types that heaptap finds in the debug information of a file, a line "SIZE
 * NAME" each, by size and name. type_oracle.py finds them by another method. */
#include <inttypes.h>
#include <stdio.h>

#include "symbol/dwfl.h"
#include "type/type_module.h"

int
main(int argc, char **argv)
{
    struct profile_module module = {.path = argc > 1 ? argv[1] : ""};
    struct object_failure failure;
    struct symbol_paths here = {0};
    struct object *o = object_open(&module, &here, &failure);
    struct type_index index = {0};
    struct debuginfo *debug;
    uint64_t bias;

    if (o == NULL) {
        fprintf(stderr, "tool_types: %s cannot be opened\n", module.path);
        return 2;
    }
    debug = object_debuginfo(o, &bias);
    if (debug != NULL)
        type_index_build(&index, debug);
    for (size_t i = 0; i < index.count; i++)
        printf("%" PRIu64 " %s\n", index.v[i].size, strtab_get(&index.names, index.v[i].name));
    type_index_release(&index);
    object_close(o);
    return 0;
}
