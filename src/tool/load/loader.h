/* loader.h: what the parts of loading share. Private to src/tool/load.
 *
 * A table is taken over by one function. They run in the order in which load_model calls them,
 * because each relies on the maps that those before it have filled in.
 */
#ifndef PROFILE_LOADER_H
#define PROFILE_LOADER_H

#include "profile/profile.h"
#include "profile/raw.h"
#include "util/map.h"

/* What the tags of a path say of the sites below them, in one number: the index of a set of labels,
 * that of a heap, and whether it is backing that heap; 0 = nothing. */
enum { TAGS_BACKING = 1, TAGS_HEAP_SHIFT = 1, TAGS_LABELS_SHIFT = 13, TAGS_BITS = 26 };
enum {
    LOADER_HEAPS_MAX = 1 << (TAGS_LABELS_SHIFT - TAGS_HEAP_SHIFT),
    LOADER_LABEL_SETS_MAX = 1 << (TAGS_BITS - TAGS_LABELS_SHIFT),
};

struct loader {
    struct raw_file *raw;
    const char *path; // Of the file; NULL if there are only its bytes.
    struct profile *p;
    uint32_t *node_of; // By the file's node id: node id + 1; 0 = no such node.
    size_t disk_node_count;
    uint32_t *tags_of; // By the file's node id: what tags say; of a frame nothing.
    uint64_t *site_of; // By the file's site id: the site's key plus 1; 0 = no such site.
    uint64_t site_id_end;
    size_t site_capacity;
    struct map known_nodes; // Of (parent, location, kind of end) to node id.
    struct map known_sites; // A site's key (load_tree.c) to its index.
    struct map known_backings; // That of a stack that backs a heap to its index.
    size_t backing_capacity;
    size_t unknown_tags; // Of heaps or sets of labels that are not in the file.
    struct map known_locations;
    struct map known_strings; // Offset << 32 | bytes to string id.
    uint64_t string_bytes;    // Of known strings.
    uint32_t *depth;          // By node: nodes from the root to it.
    uint32_t *thread_of;      // By row id: index into threads + 1.
    uint32_t *thread_of_bins; // By bins index: 1 if a thread claims it.
    size_t location_capacity;
    struct map known_thread_sites;
    size_t thread_site_capacity;
    // By index of a counter (block * DISK_BLOCK_SITES + place): index into thread_sites + 1, 0 =
    // it has none.
    uint32_t *thread_site_of;
};

/* load_tree.c */

/* The id of the string S. The recorder and pack write each string once; a file whose strings
 * overlap so much that they are longer than their table gets no more of them. */
uint32_t loader_string(struct loader *l, struct disk_string s);

void load_modules(struct loader *l);
void load_nodes(struct loader *l);
void load_sites(struct loader *l);

/* The index of the site with the file's id ID, which is no backing; "other" for what belongs to
 * none, which is counted in HOMELESS. */
uint32_t loader_site_at(struct loader *l, uint64_t id, size_t *homeless);

/* The backing that the file's site ID is, made if new; NULL for all that is part of the totals. */
struct profile_backing *loader_backing_at(struct loader *l, uint64_t id);

/* The stack of the file's site ID; 0 if there is none. */
uint32_t loader_node_at(const struct loader *l, uint64_t id);

/* Symbols that came with a packed profile. */
void load_symbols(struct loader *l);

/* Types that came with a packed profile. After load_blocks, which finds the sites. */
void load_types(struct loader *l);

/* load_fit.c */

/* Whether the stacks of all sites, with the frames that came with the file, are no more than a file
 * of this size can have. Shortens long names, with a note, if all that views write of them would be
 * more than that. After all else. */
bool loader_fit(struct loader *l);

/* load_heaps.c */

/* Heaps and sets of labels. Before load_nodes, which finds the tags. */
void load_heaps(struct loader *l);
void load_label_sets(struct loader *l);

/* What the tag D says below a path of which TAGS was said; 0 if there is no such tag there. */
uint32_t loader_add_tag(struct loader *l, const struct disk_node *d, uint32_t tags);

/* load_counters.c */

void load_threads(struct loader *l);

/* The blocks of counters; returns the number of counters that belong to no site. */
size_t load_blocks(struct loader *l);

/* If more is live now than at the peak that was attributed (threads keep a little back), now is
 * the peak. After load_errors, whose peaks rise with it. */
void loader_raise_peak(struct profile *p);

/* How far the peak may be from the true one. After loader_raise_peak and load_programs. */
void loader_bound_peak(struct loader *l);

void load_bins(struct loader *l);

/* Losses that are known by where allocations were charged to. */
void loader_count_doubtful(struct profile *p);

/* load_sampling.c */

/* What the estimates may be off by; returns the number of records that belong to no site. */
size_t load_errors(struct loader *l);

/* A profile of an older recorder has no phases: it is exact. */
void load_phases(struct loader *l);

/* What a sample that was just missed would have added to each site. After load_errors, load_blocks
 * and load_phases. */
void load_units(struct loader *l);

/* load_history.c */

/* The snapshots, and what every row of counters was at them. After load_blocks and load_header. */
void load_history(struct loader *l);

#endif
