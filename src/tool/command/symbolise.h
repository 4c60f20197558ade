/* symbolise.h: names for a profile's addresses, and what the user is told meanwhile. */
#ifndef COMMAND_SYMBOLISE_H
#define COMMAND_SYMBOLISE_H

#include "profile/profile.h"

/* Symbolise P, with progress if stderr is a terminal, and say on stderr what was missing. Returns
 * 0, or the exit code after saying why. */
int symbolise(struct profile *p);

/* Like symbolise, without saying what was missing. */
int symbolise_quietly(struct profile *p);

#endif
