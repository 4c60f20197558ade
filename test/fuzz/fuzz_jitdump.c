/* fuzz_jitdump.c: read any bytes as the file that a JIT compiler writes for perf. The first four
 * bytes are the id of the process. Names must end within the file, and each function must be found
 * by its first address, unless a later function covers that address. */
/* covers: jitdump.c */
#include <stdlib.h>
#include <string.h>

#include "refused.h"
#include "symbol/perfmap.h"
#include "util/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANGES_COMPARED = 200 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct perfmap m = {0};
    uint8_t *copy;
    bool accepted;

    if (size < 4)
        return REFUSED;
    // The block has exactly the input's size, so that the sanitizer reports reads beyond it.
    copy = malloc(size - 4 + 1);
    memcpy(copy, data + 4, size - 4);
    accepted = jitdump_parse(&m, copy, size - 4, get32(data));
    if (!accepted && m.name_count != 0)
        abort();
    free(copy);
    for (size_t i = 0; i < m.ranges.count && i < RANGES_COMPARED; i++) {
        const char *name = perfmap_name(&m, m.ranges.v[i].low);

        if (name == NULL || name[0] == '\0' || strlen(name) > size)
            abort();
    }
    perfmap_release(&m);
    return accepted ? 0 : REFUSED;
}
