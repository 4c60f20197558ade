/* load_heaps.h: a program's own heaps, and its labels. */
#ifndef LOAD_LOAD_HEAPS_H
#define LOAD_LOAD_HEAPS_H

#include "load/loader.h"

/* Heaps and sets of labels. Before load_nodes, which finds the tags. */
void load_heaps(struct loader *l);
void load_label_sets(struct loader *l);

/* Tags of a path with TAGS after the tag D; 0 if there is no such tag there. */
uint32_t loader_add_tag(struct loader *l, const struct disk_node *d, uint32_t tags);

#endif
