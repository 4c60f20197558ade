/* named.h: names of frames of the program's own language; see named.c. */
#ifndef ACCOUNT_NAMED_H
#define ACCOUNT_NAMED_H

#include "account/nodes.h"
#include "platform/state.h"

/* Make the table of named frames when recording starts. False without memory. */
bool named_start(void);

/* The id of a frame. NULL is "". Ids hold for the life of the program and its children; 0: there is
 * no room. Signal-safe, also where nothing is recorded. */
uint32_t named_id(const char *function, const char *file, uint32_t line, const char *language);

/* What stands in a node for the named frame ID, which comes from the program; any number is
 * taken. */
uint64_t named_frame(uint32_t id);

#endif
