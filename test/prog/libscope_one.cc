/* libscope_one.cc: a plug-in in C++ that defines operators. */
#define PROVIDER "one"
#include "scope_provider.h"

#include "scope_use.h"
