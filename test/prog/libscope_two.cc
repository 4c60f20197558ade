/* libscope_two.cc: a plug-in in C++ with operators of its own. */
#define PROVIDER "two"
#include "scope_provider.h"

#include "scope_use.h"
