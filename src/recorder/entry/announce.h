/* announce.h: connects the program to the recorder. */
#ifndef ENTRY_ANNOUNCE_H
#define ENTRY_ANNOUNCE_H

/* Fill in the executable's pointer to heaptap_recorder_v1, if it has one that is 0. Does not start
 * recording. May be called at any time. */
void announce_recorder(void);

#endif
