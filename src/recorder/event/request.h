/* request.h: changes the recording mode while the program runs; see request.c. Call from a thread
 * that is in the recorder. */
#ifndef EVENT_REQUEST_H
#define EVENT_REQUEST_H

#include "base/base.h"

/* Execute a pending request, or a change that is due. Call periodically. */
void request_poll(void);

/* Switch recording off or, if ON, on in the mode that the user chose. Call when the program itself
 * requests it. */
void request_switch(bool on);

#endif
