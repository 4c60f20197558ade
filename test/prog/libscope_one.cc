/* libscope_one.cc: a plug-in in C++ with operators of its own. */
#define PROVIDER "one"
#include "scope_provider.h"

#include "scope_use.h"
