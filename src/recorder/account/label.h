/* label.h: the labels of the calling thread; see label.c. */
#ifndef ACCOUNT_LABEL_H
#define ACCOUNT_LABEL_H

#include "account/nodes.h"
#include "platform/state.h"

bool label_start(void);

/* The set of the calling thread's labels plus KEY=VALUE, or without KEY when VALUE is NULL. Sets
 * are numbered for the life of the program and its children; 0 is the empty one. */
uint32_t label_with(uint32_t set, const char *key, const char *value);

/* A number that the program gives us: itself, or 0 if it is no set's. */
uint32_t label_checked(uint32_t set);

/* From now on the calling thread has the labels SET. */
void label_adopt(uint32_t set);

/* The child of NODE for the calling thread's labels. For a thread that has some. */
uint32_t label_node(uint32_t node);

/* Where blocks of the stack with SITES are counted in the calling thread. */
static inline uint32_t *
label_sites(uint32_t *sites)
{
    return likely(tls.labels == 0) ? sites : state->nodes[label_node(nodes_of(sites))].site;
}

/* NODE, or its child for the calling thread's labels if that has any. */
static inline uint32_t
label_here(uint32_t node)
{
    return likely(tls.labels == 0) ? node : label_node(node);
}

#endif
