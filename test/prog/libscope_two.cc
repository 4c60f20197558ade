/* libscope_two.cc: a plug-in in C++ that defines operators. */
#define PROVIDER "two"
#include "scope_provider.h"

#include "scope_use.h"
