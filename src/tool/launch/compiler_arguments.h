/* compiler_arguments.h: distinguish inputs from other arguments of a compiler. */
#ifndef LAUNCH_COMPILER_ARGUMENTS_H
#define LAUNCH_COMPILER_ARGUMENTS_H

#include "base/base.h"

/* Return true if the next argument is the value of ARGUMENT. */
bool argument_takes_value(const char *argument);

/* Return true if only the linker reads the input at PATH. */
bool argument_is_for_linker(const char *path);

#endif
