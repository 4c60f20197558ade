/* harness_check.c: compare the threads' actions with the tools' reading of the profile.
 *
 * The code of the tools loads the profile, in the same program and under the same sanitizer. Sites
 * are added up by the path of known functions on their stack. All counts must be equal, and no
 * event may be lost. */
#include "harness.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "load/load.h"

static int differences;

static void
harness_check_compare(const char *what, uint32_t path, int64_t expected, int64_t found)
{
    if (expected == found)
        return;
    printf("path %u: %s: expected %" PRId64 ", found %" PRId64 "\n", path, what, expected, found);
    differences++;
}

void
expect_add(struct expected *sum, const struct expected *e)
{
    for (uint32_t i = 0; i < PATHS; i++) {
        sum->path[i].allocations += e->path[i].allocations;
        sum->path[i].allocated_bytes += e->path[i].allocated_bytes;
        sum->path[i].frees += e->path[i].frees;
        sum->path[i].freed_bytes += e->path[i].freed_bytes;
    }
    sum->failed_calls += e->failed_calls;
    sum->unknown_frees += e->unknown_frees;
    sum->inherited_frees += e->inherited_frees;
    sum->overwritten_blocks += e->overwritten_blocks;
    sum->live_bytes += e->live_bytes;
    sum->peak_bytes += e->peak_bytes;
}

/* Return the kind of step that contains LOCATION, or -1. */
static int
step_of_location(const struct profile *p, const struct profile_location *l)
{
    if (strstr(p->modules[l->module].path, "/libharness_plugin") != NULL)
        return STEP_PLUGIN;
    return step_at(l->address - !l->exact);
}

/* Return the path whose steps are the frames from NODE to the root, or PATHS if there is none. */
static uint32_t
path_of(const struct profile *p, uint32_t node)
{
    uint8_t steps[PATH_DEPTH];
    uint32_t depth = 0;

    for (; node != 0; node = p->nodes[node].parent) {
        int step = step_of_location(p, &p->locations[p->nodes[node].location]);

        if (step < 0)
            continue;
        if (depth == PATH_DEPTH)
            return PATHS;
        steps[PATH_DEPTH - ++depth] = (uint8_t)step;
    }
    for (uint32_t i = 0; i < PATHS; i++)
        if (paths[i].depth == depth &&
            memcmp(paths[i].steps, steps + PATH_DEPTH - depth, depth) == 0)
            return i;
    return PATHS;
}

static void
harness_check_show_stack(const struct profile *p, uint32_t node)
{
    printf("  stack:");
    for (; node != 0; node = p->nodes[node].parent) {
        const struct profile_location *l = &p->locations[p->nodes[node].location];

        printf(" %d/%#" PRIx64 "%s", step_of_location(p, l),
               l->address - p->modules[l->module].bias, p->nodes[node].flags ? "!" : "");
    }
    printf("\n");
}

static void
harness_check_compare_paths(const struct profile *p, const struct expected *e)
{
    struct expected found = {0};

    for (size_t i = 0; i < p->site_count; i++) {
        const struct counters *c = &p->sites[i].counters;
        uint32_t path = path_of(p, p->sites[i].node);

        if (path == PATHS) {
            harness_check_compare("allocations on a stack that nobody walked", path, 0,
                                  c->allocations);
            harness_check_show_stack(p, p->sites[i].node);
            continue;
        }
        found.path[path].allocations += c->allocations;
        found.path[path].allocated_bytes += c->allocated_bytes;
        found.path[path].frees += c->frees;
        found.path[path].freed_bytes += c->freed_bytes;
    }
    for (uint32_t i = 0; i < PATHS; i++) {
        harness_check_compare("allocations", i, e->path[i].allocations, found.path[i].allocations);
        harness_check_compare("bytes", i, e->path[i].allocated_bytes,
                              found.path[i].allocated_bytes);
        harness_check_compare("frees", i, e->path[i].frees, found.path[i].frees);
        harness_check_compare("freed bytes", i, e->path[i].freed_bytes, found.path[i].freed_bytes);
    }
}

static void
harness_check_compare_bins(const struct profile *p)
{
    struct counters sum = COUNTERS_ZERO;

    for (size_t i = 0; i < p->bin_count; i++)
        counters_add(&sum, &p->bins[i].counters);
    harness_check_compare("allocations by size", PATHS, p->totals.allocations, sum.allocations);
    harness_check_compare("bytes by size", PATHS, p->totals.allocated_bytes, sum.allocated_bytes);
    harness_check_compare("frees by size", PATHS, p->totals.frees, sum.frees);
    harness_check_compare("freed bytes by size", PATHS, p->totals.freed_bytes, sum.freed_bytes);
}

static void
harness_check_compare_losses(const struct profile_losses *l, const struct expected *e)
{
    harness_check_compare("failed calls", PATHS, (int64_t)e->failed_calls,
                          (int64_t)l->failed_calls);
    // In a forked child, a foreign block may have the address of a block that the child has freed:
    // its free counts as unknown or as inherited.
    harness_check_compare("unknown frees", PATHS, (int64_t)(e->unknown_frees + e->inherited_frees),
                          (int64_t)(l->unknown_frees + l->inherited_frees));
    if (e->inherited_frees == 0)
        harness_check_compare("inherited frees", PATHS, 0, (int64_t)l->inherited_frees);
    harness_check_compare("overwritten blocks", PATHS, (int64_t)e->overwritten_blocks,
                          (int64_t)l->overwritten_blocks);
    harness_check_compare("lost events", PATHS, 0, (int64_t)l->events);
    harness_check_compare("events without a place in the ledger", PATHS, 0,
                          (int64_t)l->ledger_events);
    harness_check_compare("stacks that broke off", PATHS, 0, (int64_t)l->unwind_failures);
    harness_check_compare("stacks under \"other\"", PATHS, 0, (int64_t)l->other_site_events);
    harness_check_compare("stacks cut", PATHS, 0, (int64_t)l->truncated_stacks);
    harness_check_compare("file failed", PATHS, 0, l->file_failed);
}

int
check_profile(const char *path, const struct expected *e, bool exact_peak)
{
    struct profile *p;
    struct err err;

    differences = 0;
    if (profile_open(path, &p, &err) < 0) {
        printf("%s\n", err.text);
        return 1;
    }
    harness_check_compare_paths(p, e);
    harness_check_compare_bins(p);
    harness_check_compare_losses(&p->losses, e);
    harness_check_compare("notes of the reader", PATHS, 0, (int64_t)p->note_count);
    if (exact_peak)
        harness_check_compare("peak", PATHS, e->peak_bytes, p->totals.peak_bytes);
    printf("%zu nodes, %zu sites, %zu threads, %zu modules, %" PRIu64 " KiB\n", p->node_count,
           p->site_count, p->thread_count, p->module_count, p->recorder.file_bytes / 1024);
    profile_free(p);
    return differences;
}
