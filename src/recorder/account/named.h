/* named.h: names of frames of the program's own language; see named.c. */
#ifndef ACCOUNT_NAMED_H
#define ACCOUNT_NAMED_H

#include "account/nodes.h"
#include "platform/state.h"

/* Make the table of named frames when recording starts. False without memory. */
bool named_start(void);

/* Return the id of a frame; NULL is "". Ids hold for the life of the program and its children; 0 =
 * no room. Async-signal-safe, and also usable where nothing is recorded. */
uint32_t named_id(const char *function, const char *file, uint32_t line, const char *language);

/* Return the value that a node holds as its frame for the named frame ID. ID comes from the
 * program; any number is accepted. */
uint64_t named_frame(uint32_t id);

#endif
