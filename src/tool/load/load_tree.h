/* load_tree.h: load modules, the call tree, its sites, and the symbols and types of a packed
 * file. */
#ifndef LOAD_LOAD_TREE_H
#define LOAD_LOAD_TREE_H

#include "load/loader.h"

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
 * id, return "other" and increment *HOMELESS. */
uint32_t loader_site_at(struct loader *l, uint64_t id, size_t *homeless);

/* Return the backing with the file's site ID, created if new. Return NULL if the site is part of
 * the totals. */
struct profile_backing *loader_backing_at(struct loader *l, uint64_t id);

/* Return the stack of the file's site ID; 0 if there is none. */
uint32_t loader_node_at(const struct loader *l, uint64_t id);

/* Load the symbols of a packed profile. Requires load_nodes. */
void load_symbols(struct loader *l);

/* Load the types of a packed profile. Requires load_blocks, which makes the sites. */
void load_types(struct loader *l);

#endif
