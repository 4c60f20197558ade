/* load_history.h: counters at snapshots. */
#ifndef LOAD_LOAD_HISTORY_H
#define LOAD_LOAD_HISTORY_H

#include "load/loader.h"

/* The snapshots, and what every row of counters was at them. After load_blocks and load_header. */
void load_history(struct loader *l);

#endif
