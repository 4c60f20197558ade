/* named.h: names of frames of the program's own language; see named.c. */
#ifndef ACCOUNT_NAMED_H
#define ACCOUNT_NAMED_H

#include "account/nodes.h"
#include "platform/state.h"

/* Create the table of named frames when recording starts. Return false without memory. */
bool named_start(void);

/* Return the id for a frame; NULL strings count as "". Ids stay valid for the life of the program
 * and its children; 0 = no room. Async-signal-safe. May be called in a process that is not
 * recorded. */
uint32_t named_id(const char *function, const char *file, uint32_t line, const char *language);

/* Return the value of a node's `frame` for the named frame ID. ID comes from the program, so any
 * number is accepted. */
uint64_t named_frame(uint32_t id);

#endif
