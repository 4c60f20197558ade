/* guardian.h: a process that completes work on another process if the user kills the command. */
#ifndef COMMAND_GUARDIAN_H
#define COMMAND_GUARDIAN_H

#include "base/base.h"

/* Continue in a child, the guardian, which has all signals blocked and a new session. Return
 * false in the guardian, or if there is none because no process can be started. Return true in the
 * command after the guardian has ended; *RET_CODE is then its exit code. If a signal has ended the
 * guardian, that signal also ends the command. */
bool guardian_begin(int *ret_code);

/* Wait for SECONDS, with no work begun. End the guardian if its command ends meanwhile. */
void guardian_rest(uint64_t seconds);

/* The work is complete: end the guardian if its command has ended, and let the command's end and
 * signals end it from now on. Does nothing in any other process. */
void guardian_end(void);

#endif
