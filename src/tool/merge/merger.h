/* merger.h: state that the parts of merging share. This header and those of the parts are private
 * to src/tool/merge. */
#ifndef MERGE_MERGER_H
#define MERGE_MERGER_H

#include "profile/profile.h"
#include "util/map.h"

/* --- merge_timeline.c: sum timelines. */

enum { MERGE_TIME_POINTS = 1024 };

/* Changes in one interval of the grid. */
struct time_step {
    uint64_t index; // End of the interval, in grid widths.
    int64_t live;   // Change of live bytes.
    int64_t ended;  // Part of `live` that is due to ended processes.
    uint64_t events;
};

/* Sum of timelines on one clock. {0} is empty. */
struct time_sum {
    struct time_step steps[MERGE_TIME_POINTS + 1]; // By time.
    size_t count;
    uint32_t width_bits; // The grid's width is 2^width_bits ns.
};

/* Add the timeline of P. */
void time_sum_add(struct time_sum *t, const struct profile *p);

/* Store the points of T in P. Requires P's start to be set. Its last process ended at
 * END_UNIX_NS. */
void time_sum_finish(const struct time_sum *t, uint64_t end_unix_ns, struct profile *p);

/* Number of moments in a sum's history: the number of snapshots in a packed profile. */
enum { HISTORY_POINTS = 256 };

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
    struct strtab code_names; // Names of code outside of modules.
    struct map code;          // Name of code outside of modules to its location.
    uint64_t code_next;       // Last address assigned to code outside of modules.
    struct map nodes, sites, threads, thread_sites, types, frees, programs, heaps, backings;
    struct strtab label_keys; // Labels of each set as one text.
    struct map label_sets;    // Labels as one text to their set.
    struct map accesses;      // Site to index in the sum's accesses.
    struct map access_fields; // Site and granule to index in the sum's fields.
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
    // Ids of module paths by the address of the text: many modules may have the same long path.
    struct map paths;
};

/* Return the id in M of the string ID of IN. */
uint32_t merge_string(struct merge *m, struct merge_input *in, uint32_t id);

/* --- merge_access.c: merge the access counts of profiles. Private to src/tool/merge. */

/* Add the access counts of IN. Call after merge_sites. */
void merge_accesses(struct merge *m, struct merge_input *in);

/* Sort the access counts. Call after the last input. */
void merge_accesses_finish(struct merge *m);

/* --- merge_heaps.c: merge heaps, sets of labels, and the backing of heaps. */

/* Initialise the sum with malloc and the label sets that every profile has. */
void merge_heaps_init(struct merge *m);

/* Merge heaps and sets of labels, without the counts of their sites. */
void merge_heaps(struct merge *m, struct merge_input *in);

/* Merge the backings of heaps. Call after merge_nodes. */
void merge_backings(struct merge *m, struct merge_input *in);

/* Finish the heaps. Call when the start of the sum is known. */
void merge_heaps_finish(struct merge *m);

/* --- merge_history.c: the history of a sum. */

/* Create the moments of the sum's history, at equal distances. Arguments as for
 * merge_keep_history. */
void merge_history_begin(struct merge *m, uint64_t from_unix_ns, uint64_t to_unix_ns);

/* Add the changes of IN to the sum, if the sum keeps a history. Requires merge_counters. */
void merge_history(struct merge *m, struct merge_input *in);

/* Compute the sum's counters at each moment of its history. Call after the last input. */
void merge_history_finish(struct merge *m);

/* --- merge_notes.c: merge the notes of tools. */

/* Add FROM's notes to the sum. Similar notes become one. */
void merge_notes(struct merge *m, const struct profile *from);

/* --- merge_tree.c: add the modules, stacks and sites of an input to the sum. Call the functions in
 * the order of this header: each uses the ids that the earlier ones assigned. */

/* Initialise the sum: no module, and the nodes that every profile has. */
void merge_tree_init(struct merge *m);

void merge_modules(struct merge *m, struct merge_input *in);

/* Merge the nodes that have counts, together with their locations and frames. */
void merge_nodes(struct merge *m, struct merge_input *in);

/* Add the sites without their counters. Requires merge_heaps. */
void merge_sites(struct merge *m, struct merge_input *in);

void merge_unknown_frees(struct merge *m, struct merge_input *in);
void merge_corruptions(struct merge *m, struct merge_input *in);

/* Make the times of corruptions relative to the earliest start, and sort them by the time they were
 * found. Call after all inputs. */
void merge_corruptions_finish(struct merge *m);

/* --- merge_valid.c: check a sum's invariants. */

/* Return true if M is consistent; valid between two inputs. Only reads; for ENSURE_VALID. */
bool merge_is_valid(const struct merge *m);

#endif
