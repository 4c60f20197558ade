/* site_node.h: the stack of a site that has nothing live, and so is not in the model. */
#ifndef ANALYSE_SITE_NODE_H
#define ANALYSE_SITE_NODE_H

#include "profile/profile.h"
#include "profile/raw.h"

/* The node of P, loaded from a file with the stacks of RAW, at which the file's SITE is; 0 if there
 * is none. Takes a walk through all nodes. */
uint32_t site_node(const struct raw_file *raw, const struct profile *p, uint32_t site);

#endif
