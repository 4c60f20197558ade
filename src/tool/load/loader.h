/* loader.h: state that the parts of loading share. This header and those of the parts are private
 * to src/tool/load.
 *
 * Each table has a function that loads it. load_model calls these in a fixed order, because each
 * relies on maps that earlier ones filled in. */
#ifndef LOAD_LOADER_H
#define LOAD_LOADER_H

#include "profile/profile.h"
#include "profile/raw.h"
#include "util/map.h"

/* Tags of a path, in one number, for the sites below it: indices of a share of callers, of a set of
 * labels and of a heap, and a flag that the path backs this heap; 0 = no tags. */
enum {
    TAGS_BACKING = 1,
    TAGS_HEAP_SHIFT = 1,
    TAGS_LABELS_SHIFT = 13,
    TAGS_CALLERS_SHIFT = 26,
    TAGS_BITS = 30
};
enum {
    LOADER_HEAPS_MAX = 1 << (TAGS_LABELS_SHIFT - TAGS_HEAP_SHIFT),
    LOADER_LABEL_SETS_MAX = 1 << (TAGS_CALLERS_SHIFT - TAGS_LABELS_SHIFT),
};
static_assert(CALLERS_PERIODS_MAX == 1 << (TAGS_BITS - TAGS_CALLERS_SHIFT), "a tag holds them");

/* A recently looked up code address. */
struct loader_recent {
    uint64_t key; // Key in known_locations; 0 = unused.
    uint32_t location;
};

enum { LOADER_RECENT = 512 };

struct loader {
    struct raw_file *raw;
    const char *path; // Path of the file; NULL if only its bytes are known.
    struct profile *p;
    struct arena scratch; // For tables that are needed only until the model is complete.
    uint32_t *node_of; // By the file's node id: node id + 1; 0 = no such node.
    size_t disk_node_count;
    uint32_t *tags_of; // By the file's node id: the tags; 0 for a frame.
    // By the file's site id: the site's key (load_tree.c) plus 1; 0 = no such site.
    uint64_t *site_of;
    // By the file's site id: index of the site in the model plus 1; 0 = not added yet.
    uint32_t *index_of_site;
    uint64_t site_id_end;
    size_t site_id_capacity;
    size_t bad_nodes, bad_tags; // Nodes and tags without a place in the tree.
    size_t bad_sites;           // References to nodes that are not in the tree.
    size_t orphaned;            // Counters without a known site.
    size_t threadless;          // Counters without a known thread.
    size_t site_capacity;
    bool one_thread;        // No node occurs twice, so known_nodes is unused.
    struct map known_nodes; // Key of (parent, location, flags) to node id.
    // A site's key (load_tree.c) to its index; without sites for which is_sole holds.
    struct map known_sites;
    struct map known_backings; // Key of a backing to its index.
    size_t backing_capacity;
    size_t unknown_tags; // Tags whose heap or set of labels is not in the file.
    struct map known_locations;
    struct loader_recent recent[LOADER_RECENT]; // Cache by a hash of the key.
    size_t named_count;       // Locations that are named frames.
    struct map known_strings; // Key offset << 32 | length to string id.
    uint64_t string_bytes;    // Total length of known strings.
    uint16_t *depth;          // By node: number of nodes from the root to it.
    uint16_t deepest;         // Maximum of `depth`.
    uint32_t *thread_of;      // By row id: index into threads + 1.
    uint32_t *thread_of_bins; // By index of bins: 1 if a thread refers to them.
    size_t location_capacity;
    // Unused if there is one thread, whose rows are numbered like sites.
    struct map known_thread_sites;
    size_t thread_site_capacity, row_capacity;
    // By counter (block * DISK_BLOCK_SITES + index in the block): index into thread_sites + 1; 0 =
    // none.
    uint32_t *thread_site_of;
};

/* Return the id of the string S. The recorder and pack write each string once. If strings overlap
 * so much that their total length exceeds the table, further ones are rejected. */
uint32_t loader_string(struct loader *l, struct disk_string s);

/* Return the function that notes a reference to a missing record: raw_note if an undamaged file may
 * have such references, otherwise raw_damage. An undamaged file may have them if its process may be
 * alive, if the file could not grow, or if it is a copy of memory. Requires the header to be
 * loaded. */
typedef void loader_noter(struct raw_file *raw, const char *format, ...) PRINTF(2, 3);
loader_noter *loader_note_of_loose(const struct loader *l);

/* --- load_tree.c: load modules, the call tree, its sites, and the symbols and types of a packed
 * file. */

/* Load the modules. Call before load_nodes, whose frames refer to them. */
void load_modules(struct loader *l);

/* Load the call tree with the locations of the frames, and its tags. Requires load_heaps. */
void load_nodes(struct loader *l);

/* Allocate the index of sites, by the file's ids. A site is added to the model when it gets a
 * counter. Requires load_nodes. */
void load_sites(struct loader *l);

/* Reserve room for COUNT sites. */
void loader_expect_sites(struct loader *l, size_t count);

/* Return the index of the site with the file's id ID, which must not be a backing. For an unknown
 * id, return "other" and increment *ORPHANED. */
uint32_t loader_site_at(struct loader *l, uint64_t id, size_t *orphaned);

/* Return the backing with the file's site ID, created if new. Return NULL if the site is part of
 * the totals. */
struct profile_backing *loader_backing_at(struct loader *l, uint64_t id);

/* Return the stack of the file's site ID; 0 if there is none. */
uint32_t loader_node_at(const struct loader *l, uint64_t id);

/* Load the symbols of a packed profile. Requires load_nodes. */
void load_symbols(struct loader *l);

/* Load the types of a packed profile. Requires load_blocks, which makes the sites. */
void load_types(struct loader *l);

/* --- load_access.c: load the access counts of sites. */

/* Load the access counts, if there are any. Return the number of records without a site. Requires
 * load_blocks. */
size_t load_accesses(struct loader *l);

/* --- load_counters.c: threads, and counters by site and by size. */

/* Load the threads, merging threads of equal name, and the owners of bins. */
void load_threads(struct loader *l);

/* Load the counters of sites and backings. Return the number of counters without a site. Requires
 * load_sites and load_threads. */
size_t load_blocks(struct loader *l);

/* If live bytes exceed the recorded peak, because threads publish late, make the current state the
 * peak. Requires load_errors, whose peaks are changed as well. */
void loader_raise_peak(struct profile *p);

/* Compute the maximum error of the peak. Requires loader_raise_peak and load_programs. */
void loader_bound_peak(struct loader *l);

/* Clear all lifetime counts if the lifetimes of some blocks are unknown. Requires load_modes and
 * profile_sum_heaps. */
void loader_decide_lifetimes(struct loader *l);

/* Load the counters by size. Requires load_threads, which determines the owners of bins. */
void load_bins(struct loader *l);

/* Count the losses that follow from the flags of stacks. */
void loader_count_uncertain(struct profile *p);

/* --- load_fit.c: reject models that are too large for the size of their file. */

/* Return true if the stacks of all sites, and the packed frames, are plausible for a file of this
 * size. Shorten long names, with a note, if views would write too much text. Call last. */
bool loader_fit(struct loader *l);

/* --- load_heaps.c: load heaps and labels that the program created. */

/* Load heaps and sets of labels. Call before load_nodes, which reads the tags. */
void load_heaps(struct loader *l);
void load_label_sets(struct loader *l);

/* Combine the tag D with TAGS, the tags of the path so far, and return the result; 0 if D is
 * invalid. */
uint32_t loader_add_tag(struct loader *l, const struct disk_node *d, uint32_t tags);

/* --- load_history.c: load the counters at snapshots. */

/* Load the snapshots, and the values of every row of counters at them. Requires load_blocks and
 * load_header. */
void load_history(struct loader *l);

/* --- load_peak.c: the place of the peak among the snapshots. */

/* Give the peak of P, and snapshots of the same tick of the clock, times in their true order.
 * Requires load_history. */
void load_peak(struct profile *p);

/* --- load_sampling.c: load recording modes and error bounds. */

/* Load the error bounds of the estimates. Return the number of records without a site. */
size_t load_errors(struct loader *l);

/* Load the recording modes. A profile of an older recorder has none, and is exact. */
void load_modes(struct loader *l);

/* Compute the amount that one missed sample would have added to each site. Requires load_errors,
 * load_blocks and load_modes. */
void load_units(struct loader *l);

/* --- load_valid.c: invariants of a profile right after loading. Private to src/tool/load. */

/* Return true if P, which is valid (profile_valid.h), also satisfies the loader's invariants. Only
 * reads. */
bool loaded_is_valid(const struct profile *p);

#endif
