/* guard.h: a profile whose pages go away must not take the program with it. */
#ifndef EVENT_GUARD_H
#define EVENT_GUARD_H

/* Watch over the mapped file of this process, if the program leaves SIGBUS to its default; and take
 * the signal that is to be a snapshot, if it leaves that one. */
void guard_start(void);

#endif
