/* uncounted.h: who in this process may access blocks without counting. */
#ifndef ACCESS_UNCOUNTED_H
#define ACCESS_UNCOUNTED_H

#include "base/base.h"

/* Look at all that is loaded now, before some of it is unloaded or the process ends. */
void uncounted_look(void);

/* Write into the profile who was found. Only then do readers trust that a block was never used. */
void uncounted_publish(void);

#endif
