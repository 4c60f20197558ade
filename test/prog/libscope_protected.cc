/* libscope_protected.cc: a plug-in in C++ whose operators have protected visibility. */
#define PROVIDER "protected"
#define PROVIDER_AS __attribute__((visibility("protected")))
#include "scope_provider.h"

#include "scope_use.h"
