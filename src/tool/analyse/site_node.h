/* site_node.h: stack of a site without live blocks, which the model does not have. */
#ifndef ANALYSE_SITE_NODE_H
#define ANALYSE_SITE_NODE_H

#include "profile/profile.h"
#include "profile/raw.h"

/* Return the node in P of SITE, an id in P's file, whose tables are RAW; 0 = none. Takes time
 * proportional to the number of nodes. */
uint32_t site_node(const struct raw_file *raw, const struct profile *p, uint32_t site);

#endif
