/* merger.h: state that the parts of merging share. This header and those of the parts are private
 * to src/tool/merge. */
#ifndef MERGE_MERGER_H
#define MERGE_MERGER_H

#include "merge/merge_timeline.h"
#include "util/map.h"

/* Number of moments in a sum's history: the number of snapshots in a packed profile. */
enum { HISTORY_MOMENTS = 256 };

struct merge {
    struct profile *p; // The sum so far.
    size_t module_capacity, location_capacity, node_capacity, site_capacity, thread_capacity,
        thread_site_capacity, row_capacity, type_capacity, free_capacity, corruption_capacity,
        program_capacity, heap_capacity, label_set_capacity, backing_capacity, note_capacity,
        access_capacity, access_field_capacity;
    struct strtab build_ids;  // As hexadecimal text.
    struct map modules;       // module_key to module id.
    uint64_t module_next;     // Lowest address that is tried for a module that must move.
    struct map locations;     // Frame as in the file, and its flag `exact`, to location.
    struct strtab code_names; // Names of code outside of modules,
    struct map code;          // their locations,
    uint64_t code_next;       // and the last address assigned to such code.
    struct map nodes, sites, threads, thread_sites, types, frees, programs, heaps, backings;
    struct strtab label_keys; // Labels of each set as one text,
    struct map label_sets;    // and the set with these labels.
    struct map accesses;      // Site to index in the sum's accesses,
    struct map access_fields; // and site and granule to index in its fields.
    struct map changes;       // Row and interval to index.
    size_t change_capacity;
    uint64_t history_from_ns, history_to_ns; // Time range of the history.
    struct time_sum time;
    uint64_t end_unix_ns;
};

/* A profile that is being added. The arrays map its ids to ids in the sum. */
struct merge_input {
    const struct profile *p;
    struct arena arena;
    uint32_t *strings; // 0 = not looked up yet.
    uint32_t *modules, *nodes, *sites, *threads, *heaps, *label_sets;
    uint32_t *locations; // 0 = not looked up yet.
    struct map paths;    // Ids of module paths by the address of the text: many modules may have
                         // the same long path.
};

/* Return the id in M of the string ID of IN. */
uint32_t merge_string(struct merge *m, struct merge_input *in, uint32_t id);

#endif
