/* load_heaps.h: a program's own heaps, and its labels. */
#ifndef LOAD_LOAD_HEAPS_H
#define LOAD_LOAD_HEAPS_H

#include "load/loader.h"

/* Load heaps and sets of labels. Call before load_nodes, which reads the tags. */
void load_heaps(struct loader *l);
void load_label_sets(struct loader *l);

/* Return the tags of a path with TAGS after the tag D; 0 if D is invalid. */
uint32_t loader_add_tag(struct loader *l, const struct disk_node *d, uint32_t tags);

#endif
