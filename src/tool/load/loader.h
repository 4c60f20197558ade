/* loader.h: state that the parts of loading share. This header and those of the parts are private
 * to src/tool/load.
 *
 * One function loads each table. load_model calls them in a fixed order, because each relies on
 * maps that earlier ones filled in. */
#ifndef LOAD_LOADER_H
#define LOAD_LOADER_H

#include "profile/profile.h"
#include "profile/raw.h"
#include "util/map.h"

/* Tags of a path, for the sites below it, in one number: the index of a set of labels, the index of
 * a heap, and whether the path backs this heap; 0 = none. */
enum { TAGS_BACKING = 1, TAGS_HEAP_SHIFT = 1, TAGS_LABELS_SHIFT = 13, TAGS_BITS = 26 };
enum {
    LOADER_HEAPS_MAX = 1 << (TAGS_LABELS_SHIFT - TAGS_HEAP_SHIFT),
    LOADER_LABEL_SETS_MAX = 1 << (TAGS_BITS - TAGS_LABELS_SHIFT),
};

/* A recently looked up code address. */
struct loader_recent {
    uint64_t key; // As in known_locations; 0 = none.
    uint32_t location;
};

enum { LOADER_RECENT = 512 };

struct loader {
    struct raw_file *raw;
    const char *path; // Path of the file; NULL if there are only its bytes.
    struct profile *p;
    uint32_t *node_of; // By the file's node id: node id + 1; 0 = no such node.
    size_t disk_node_count;
    uint32_t *tags_of; // By the file's node id: the tags; 0 for a frame.
    uint64_t *site_of; // By the file's site id: the site's key plus 1; 0 = no such site.
    uint32_t *index_of_site; // The same: its index plus 1 in the model, once it is there.
    uint64_t site_id_end;
    size_t site_id_capacity;
    size_t bad_nodes, bad_tags; // Nodes and tags without a place in the tree.
    size_t bad_sites;           // References to nodes outside the tree.
    size_t homeless;            // Counters of no known site.
    size_t threadless;          // Counters of no known thread.
    size_t site_capacity;
    bool one_thread;        // No node occurs twice, so known_nodes is unused.
    struct map known_nodes; // Of (parent, location, kind of end) to node id.
    struct map known_sites; // A site's key (load_tree.c) to its index, unless it is_sole there.
    struct map known_backings; // The key of a stack that backs a heap to its index.
    size_t backing_capacity;
    size_t unknown_tags; // Tags of heaps or sets of labels that are not in the file.
    struct map known_locations;
    struct loader_recent recent[LOADER_RECENT]; // By a hash of the key.
    size_t named_count;       // Locations that are named frames.
    struct map known_strings; // Offset << 32 | bytes to string id.
    uint64_t string_bytes;    // Lengths of known strings.
    uint16_t *depth;          // By node: nodes from the root to it.
    uint16_t deepest;         // The largest of them.
    uint32_t *thread_of;      // By row id: index into threads + 1.
    uint32_t *thread_of_bins; // By bins index: 1 if a thread claims it.
    size_t location_capacity;
    struct map known_thread_sites; // Unused with one thread, whose rows are numbered as sites.
    size_t thread_site_capacity, row_capacity;
    // By index of a counter (block * DISK_BLOCK_SITES + place): index into thread_sites + 1, 0 =
    // it has none.
    uint32_t *thread_site_of;
};

/* Return the id of the string S. The recorder and pack write each string once. If strings overlap
 * so much that their total length exceeds their table, further ones are refused. */
uint32_t loader_string(struct loader *l, struct disk_string s);

/* Return the function that notes a reference to a missing record. That is raw_note if an undamaged
 * file may have such references: its process may live, the file could not grow, or it is a copy of
 * memory. Otherwise it is raw_damage. Requires the header to be loaded. */
typedef void loader_noter(struct raw_file *raw, const char *format, ...) PRINTF(2, 3);
loader_noter *loader_note_of_loose(const struct loader *l);

#endif
