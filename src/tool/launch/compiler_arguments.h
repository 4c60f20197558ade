/* compiler_arguments.h: which of a compiler's arguments are inputs. */
#ifndef LAUNCH_COMPILER_ARGUMENTS_H
#define LAUNCH_COMPILER_ARGUMENTS_H

#include "base/base.h"

/* Is the argument behind ARGUMENT its value? */
bool argument_takes_value(const char *argument);

/* Is the input at PATH one that only the linker reads? */
bool argument_is_for_linker(const char *path);

#endif
