/* fuzz_profile.c: any bytes at all load as a profile, or are refused with a sentence; what loads
 * adds up: the totals are the sum of the sites and of the threads, and every id points somewhere.
 */
#include <stdio.h>
#include <stdlib.h>

#include "profile/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void
demand(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_profile: %s\n", what);
    abort();
}

static void
check_ids(const struct profile *p)
{
    for (size_t i = 1; i < p->node_count; i++) {
        demand(p->nodes[i].parent < i, "a node's parent comes before it");
        demand(p->nodes[i].location < p->location_count, "a node's location exists");
    }
    for (size_t i = 0; i < p->location_count; i++) {
        demand(p->locations[i].module < p->module_count, "a location's module exists");
        demand(p->locations[i].first_frame + p->locations[i].frame_count <= p->frame_count,
               "its frames exist");
    }
    for (size_t i = 0; i < p->site_count; i++)
        demand(p->sites[i].node < p->node_count, "a site's node exists");
}

static void
check_sums(const struct profile *p)
{
    struct counters sites = COUNTERS_ZERO, threads = COUNTERS_ZERO;

    for (size_t i = 0; i < p->site_count; i++)
        counters_add(&sites, &p->sites[i].counters);
    for (size_t i = 0; i < p->thread_count; i++)
        counters_add(&threads, &p->threads[i].counters);
    demand(sites.allocations == p->totals.allocations &&
               sites.freed_bytes == p->totals.freed_bytes &&
               sites.peak_bytes == p->totals.peak_bytes,
           "totals are the sum of the sites");
    demand(threads.allocations == p->totals.allocations &&
               threads.freed_bytes == p->totals.freed_bytes,
           "totals are the sum of the threads");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct err err = {""};
    struct profile *p;

    if (load_bytes(data, size_bytes, "input", &p, &err) < 0) {
        demand(err.text[0] != '\0', "a refusal says why");
        return 0;
    }
    check_ids(p);
    check_sums(p);
    profile_free(p);
    return 0;
}
