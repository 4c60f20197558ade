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

/* Tags of a path, in one number, for the sites below it: the index of a set of labels, the index of
 * a heap, and a flag that the path backs this heap; 0 = no tags. */
enum { TAGS_BACKING = 1, TAGS_HEAP_SHIFT = 1, TAGS_LABELS_SHIFT = 13, TAGS_BITS = 26 };
enum {
    LOADER_HEAPS_MAX = 1 << (TAGS_LABELS_SHIFT - TAGS_HEAP_SHIFT),
    LOADER_LABEL_SETS_MAX = 1 << (TAGS_BITS - TAGS_LABELS_SHIFT),
};

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
    uint32_t *node_of; // By the file's node id: node id + 1; 0 = no such node.
    size_t disk_node_count;
    uint32_t *tags_of; // By the file's node id: the tags; 0 for a frame.
    uint64_t *site_of; // By the file's site id: the site's key (load_tree.c) plus 1; 0 = no such
                       // site.
    uint32_t *index_of_site; // By the file's site id: index of the site in the model plus 1; 0 =
                             // not added yet.
    uint64_t site_id_end;
    size_t site_id_capacity;
    size_t bad_nodes, bad_tags; // Nodes and tags without a place in the tree.
    size_t bad_sites;           // References to nodes that are not in the tree.
    size_t homeless;            // Counters without a known site.
    size_t threadless;          // Counters without a known thread.
    size_t site_capacity;
    bool one_thread;        // No node occurs twice, so known_nodes is unused.
    struct map known_nodes; // Key of (parent, location, flags) to node id.
    struct map known_sites; // A site's key (load_tree.c) to its index; without sites for which
                            // is_sole holds.
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
    struct map known_thread_sites; // Unused with one thread, whose rows are numbered like sites.
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

#endif
