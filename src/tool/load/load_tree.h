/* load_tree.h: modules, the call tree, its sites, and the symbols and types of a packed file. */
#ifndef LOAD_LOAD_TREE_H
#define LOAD_LOAD_TREE_H

#include "load/loader.h"

/* What frames point into. Before load_nodes. */
void load_modules(struct loader *l);

/* Load the call tree with the locations of its frames, and its tags. Requires load_heaps. */
void load_nodes(struct loader *l);

/* Which sites there may be, by the file's ids; a site gets into the model when something is counted
 * for it. After load_nodes. */
void load_sites(struct loader *l);

/* Make room for COUNT sites. */
void loader_expect_sites(struct loader *l, size_t count);

/* Index of the site with the file's id ID, unless it is a backing; "other" for an unknown id,
 * counted in HOMELESS. */
uint32_t loader_site_at(struct loader *l, uint64_t id, size_t *homeless);

/* The backing that the file's site ID is, made if new; NULL for all that is part of the totals. */
struct profile_backing *loader_backing_at(struct loader *l, uint64_t id);

/* Return the stack of the file's site ID; 0 if there is none. */
uint32_t loader_node_at(const struct loader *l, uint64_t id);

/* Symbols that came with a packed profile. After load_nodes. */
void load_symbols(struct loader *l);

/* Types that came with a packed profile. After load_blocks, which finds the sites. */
void load_types(struct loader *l);

#endif
