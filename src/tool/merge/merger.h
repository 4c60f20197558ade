/* merger.h: state that the parts of merging share. This header and those of the parts are private
 * to src/tool/merge. */
#ifndef MERGE_MERGER_H
#define MERGE_MERGER_H

#include "merge/merge_timeline.h"
#include "util/map.h"

/* The moments of a history of a sum: as many as a packed profile has snapshots. */
enum { HISTORY_MOMENTS = 256 };

struct merge {
    struct profile *p; // The sum so far.
    size_t module_capacity, location_capacity, node_capacity, site_capacity, thread_capacity,
        thread_site_capacity, row_capacity, type_capacity, free_capacity, corruption_capacity,
        program_capacity, heap_capacity, label_set_capacity, backing_capacity, note_capacity,
        access_capacity, access_field_capacity;
    struct strtab build_ids;  // In hexadecimal.
    struct map modules;       // By the id of the build id, or of the path; see module_key.
    uint64_t module_next;     // Address with room for the next module that must move.
    struct map locations;     // Frame as in the file, and whether it is exact.
    struct strtab code_names; // Names of code outside of modules, and
    struct map code;          // its locations.
    uint64_t code_next;       // the last address assigned to such code.
    struct map nodes, sites, threads, thread_sites, types, frees, programs, heaps, backings;
    struct strtab label_keys; // The labels of each set as one text, and
    struct map label_sets;    // which set has them.
    struct map accesses;      // By site: their index, and
    struct map access_fields; // by site and place.
    struct map changes;       // By row and interval: their index.
    size_t change_capacity;
    uint64_t history_from_ns, history_to_ns; // Time range of the history.
    struct time_sum time;
    uint64_t end_unix_ns;
};

/* A profile while it is being added. The arrays map its ids to the ids in the sum. */
struct merge_input {
    const struct profile *p;
    struct arena arena;
    uint32_t *strings; // 0 = not looked up yet.
    uint32_t *modules, *nodes, *sites, *threads, *heaps, *label_sets;
    uint32_t *locations; // 0 = not looked up yet.
    struct map paths;    // Paths of modules, by address of the text: one long path may have many
                         // modules.
};

/* Return the id in M of the string ID of IN. */
uint32_t merge_string(struct merge *m, struct merge_input *in, uint32_t id);

#endif
