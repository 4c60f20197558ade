/* site_node.h: the stack of a site without live blocks, which is not in the model. */
#ifndef ANALYSE_SITE_NODE_H
#define ANALYSE_SITE_NODE_H

#include "profile/profile.h"
#include "profile/raw.h"

/* Return the node of SITE, an id in the file of P with the tables RAW; 0 if there is none. Walks
 * all nodes. */
uint32_t site_node(const struct raw_file *raw, const struct profile *p, uint32_t site);

#endif
