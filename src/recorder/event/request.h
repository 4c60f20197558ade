/* request.h: changes of the recording mode while the program runs; see request.c. Call from a
 * thread that is in the recorder. */
#ifndef EVENT_REQUEST_H
#define EVENT_REQUEST_H

#include "base/base.h"

/* Apply a pending request, or a change that is due. Call now and then. */
void request_poll(void);

/* Switch recording ON, in the way that the user chose, or off, because the program itself requests
 * it. */
void request_switch(bool on);

#endif
