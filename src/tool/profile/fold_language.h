/* fold_language.h: reduce the stacks of a profile to the frames of the program's language. */
#ifndef PROFILE_FOLD_LANGUAGE_H
#define PROFILE_FOLD_LANGUAGE_H

#include "profile/profile.h"

/* Return true if P's program is the interpreter of a script: most bytes have frames of a language,
 * and the executable has code of the runtime or is called after the language. Requires that
 * fold_runtime was called for P. */
bool profile_is_of_interpreter(const struct profile *p);

/* Remove the C frames from P's stacks, and charge their allocations to the calling function of the
 * language. Stacks without such a function become the frame "native (no Python frame)". Frames of
 * Python's importlib are charged to the importing line. Requires that fold_runtime was called for
 * P. Without frames of a language, or if called before, P is unchanged. Afterwards P is for display
 * only and must not be written to a file. */
void language_only(struct profile *p);

#endif
