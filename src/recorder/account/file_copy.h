/* file_copy.h: copies a profile in memory (state->in_memory) to its file. Does nothing for other
 * profiles. */
#ifndef ACCOUNT_FILE_COPY_H
#define ACCOUNT_FILE_COPY_H

#include "platform/state.h"

/* The occasions to update the file. */
enum file_copy { FILE_COPY_FIRST, FILE_COPY_DUE, FILE_COPY_LAST };

/* Update the file: for the first time; if an update is due, possibly by one piece only; or for the
 * last time, after which the file is complete. Any thread may call this in an event. */
void file_copy(enum file_copy when);

#endif
