/* merger.h: what the parts of merging share. Private to src/tool/merge. */
#ifndef PROFILE_MERGER_H
#define PROFILE_MERGER_H

#include "merge/merge.h"
#include "util/map.h"

enum { MERGE_TIME_POINTS = 1024 };

/* What changed in a stretch of time, all times being multiples of the width of the grid. */
struct time_step {
    uint64_t index; // Of the end of the stretch, in widths.
    int64_t live;   // Change of live bytes.
    int64_t ended;  // The same, because a process ended.
    uint64_t events;
};

/* The sum of timelines on one clock. Zero is empty. */
struct time_sum {
    struct time_step steps[MERGE_TIME_POINTS + 1]; // By time.
    size_t count;
    uint32_t width_bits; // The grid is 2^width_bits ns.
};

struct merge {
    struct profile *p; // The sum so far.
    size_t module_capacity, location_capacity, node_capacity, site_capacity, thread_capacity,
        thread_site_capacity, type_capacity, free_capacity, program_capacity, heap_capacity,
        label_set_capacity, backing_capacity;
    struct strtab build_ids;  // In hexadecimal.
    struct map modules;       // By the id of the build id, or of the path; see module_key.
    uint64_t module_next;     // Where there may be room for the next one that has to move.
    struct map locations;     // Frame as in the file, and whether it is exact.
    struct strtab code_names; // Which names code outside of modules has, and
    struct map code;          // its locations.
    uint64_t code_next;       // The address that such code got last.
    struct map nodes, sites, threads, thread_sites, types, frees, programs, heaps, backings;
    struct strtab label_keys; // The labels of each set as one text, and
    struct map label_sets;    // which set has them.
    struct time_sum time;
    uint64_t end_unix_ns;
};

/* A profile while it is being added: where its things have gone. All by its own ids. */
struct merge_input {
    const struct profile *p;
    struct arena arena;
    uint32_t *strings; // 0 = not looked up yet.
    uint32_t *modules, *nodes, *sites, *threads, *heaps, *label_sets;
    uint32_t *locations; // 0 = not looked up yet.
    struct map paths;    // Of modules, by where the text is: one long path may have many.
};

/* The id in M of the string ID of IN. */
uint32_t merge_string(struct merge *m, struct merge_input *in, uint32_t id);

/* merge_tree.c */

void merge_tree_init(struct merge *m);
void merge_modules(struct merge *m, struct merge_input *in);
void merge_nodes(struct merge *m, struct merge_input *in);

/* The sites with what is said of them, but without their counters. */
void merge_sites(struct merge *m, struct merge_input *in);

void merge_unknown_frees(struct merge *m, struct merge_input *in);

/* merge_heaps.c */

void merge_heaps_init(struct merge *m);

/* Heaps and sets of labels, without what their sites count. */
void merge_heaps(struct merge *m, struct merge_input *in);

/* After merge_nodes. */
void merge_backings(struct merge *m, struct merge_input *in);

/* When the sum's start is known. */
void merge_heaps_finish(struct merge *m);

/* merge_timeline.c */

void time_sum_add(struct time_sum *t, const struct profile *p);

/* The points of T into P, whose start is set, and whose last process ended at END_UNIX_NS. */
void time_sum_finish(const struct time_sum *t, uint64_t end_unix_ns, struct profile *p);

/* When P's recording ended; saturated. */
uint64_t time_of_end(const struct profile *p);

#endif
