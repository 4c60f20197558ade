/* file_copy.h: the file of a profile that is in memory (state->in_memory): copies of that. Nothing
 * here does anything to other profiles. */
#ifndef ACCOUNT_FILE_COPY_H
#define ACCOUNT_FILE_COPY_H

#include "platform/state.h"

/* When the file is brought up to now. */
enum file_copy { FILE_COPY_FIRST, FILE_COPY_DUE, FILE_COPY_LAST };

/* Bring it up to now: for the first time; if that is due, and then perhaps by a piece of it alone;
 * or for the last time, so that the file is whole. Any thread may call it in an event. */
void file_copy(enum file_copy when);

#endif
