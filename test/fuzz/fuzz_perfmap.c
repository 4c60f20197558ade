/* fuzz_perfmap.c: read any bytes as a JIT compiler's map. A name must be the end of a line, and the
 * lookup must agree with a search of every range, where the latest line that covers an address
 * wins. */
/* covers: perfmap.c ranges.c */
#include <stdlib.h>
#include <string.h>

#include "symbol/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANGES_COMPARED = 200 };

static const char *
slow_name(const struct perfmap *m, uint64_t address)
{
    const char *name = NULL;
    uint32_t latest = 0;

    for (size_t i = 0; i < m->ranges.count; i++) {
        const struct range *r = &m->ranges.v[i];

        if (address < r->low || address >= r->high || (name != NULL && r->id < latest))
            continue;
        latest = r->id;
        name = m->names[r->id];
    }
    return name;
}

static void
perfmap_compare(const struct perfmap *m, uint64_t address)
{
    if (perfmap_name(m, address) != slow_name(m, address))
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct perfmap m = {0};

    perfmap_parse(&m, (const char *)data, size);
    for (size_t i = 0; i < m.name_count; i++)
        if (m.names[i][0] == '\0' || strchr(m.names[i], '\n') != NULL)
            abort();
    for (size_t i = 0; i < m.ranges.count && i < RANGES_COMPARED; i++) {
        perfmap_compare(&m, m.ranges.v[i].low);
        perfmap_compare(&m, m.ranges.v[i].low - 1);
        perfmap_compare(&m, m.ranges.v[i].high);
        perfmap_compare(&m, m.ranges.v[i].high - 1);
    }
    perfmap_compare(&m, 0);
    perfmap_release(&m);
    return 0;
}
