/* libscope_plain.cc: a plug-in in C++ without operators of its own. */
#include "scope_use.h"
