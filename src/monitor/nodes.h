/* nodes.h: the call tree, and the sites on it. */
#ifndef MONITOR_NODES_H
#define MONITOR_NODES_H

#include "monitor/state.h"

bool nodes_start(void);

/* The child of PARENT for FRAME, added with FLAGS if new; DISK_NODE_OTHER when the tree is full. */
uint32_t nodes_child(uint32_t parent, uint64_t frame, uint32_t flags);

/* The site of blocks of SIZE_BYTES allocated at NODE; a site of DISK_NODE_OTHER when there are no
 * more. */
uint32_t nodes_site(uint32_t node, uint64_t size_bytes);

#endif
