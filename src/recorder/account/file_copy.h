/* file_copy.h: copies a profile in memory (state->in_memory) to its file. Has no effect on other
 * profiles. */
#ifndef ACCOUNT_FILE_COPY_H
#define ACCOUNT_FILE_COPY_H

#include "platform/state.h"

/* The occasions to update the file. */
enum file_copy { FILE_COPY_FIRST, FILE_COPY_DUE, FILE_COPY_LAST };

/* Update the file. FIRST: for the first time. DUE: if an update is due, perhaps only one piece.
 * LAST: for the last time; the file is then complete. Call in an event, from any thread. */
void file_copy(enum file_copy when);

#endif
