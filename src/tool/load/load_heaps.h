/* load_heaps.h: load heaps and labels that the program created. */
#ifndef LOAD_LOAD_HEAPS_H
#define LOAD_LOAD_HEAPS_H

#include "load/loader.h"

/* Load heaps and sets of labels. Call before load_nodes, which reads the tags. */
void load_heaps(struct loader *l);
void load_label_sets(struct loader *l);

/* Combine the tag D with TAGS, the tags of the path so far, and return the result; 0 if D is
 * invalid. */
uint32_t loader_add_tag(struct loader *l, const struct disk_node *d, uint32_t tags);

#endif
