/* load_history.h: load the counters at snapshots. */
#ifndef LOAD_LOAD_HISTORY_H
#define LOAD_LOAD_HISTORY_H

#include "load/loader.h"

/* Load the snapshots, and the values of every row of counters at them. Requires load_blocks and
 * load_header. */
void load_history(struct loader *l);

#endif
