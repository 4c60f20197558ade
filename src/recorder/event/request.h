/* request.h: changes the recording mode while the program runs; see request.c. Call from a thread
 * that is in the recorder. */
#ifndef EVENT_REQUEST_H
#define EVENT_REQUEST_H

#include "base/base.h"

/* Carry out a pending request, or a change that is due. Call from time to time. */
void request_poll(void);

/* Switch recording ON, in the mode that the user chose, or off. Call when the program itself
 * requests it. */
void request_switch(bool on);

#endif
