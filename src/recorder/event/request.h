/* request.h: changes of the way of recording while the program runs; see request.c. To be called by
 * a thread that is in the recorder. */
#ifndef EVENT_REQUEST_H
#define EVENT_REQUEST_H

#include "base/base.h"

/* Is anything asked for, or is it time? To be called now and then. */
void request_poll(void);

/* The program itself says that recording begins, in the way that was asked for, or ends. */
void request_switch(bool on);

#endif
