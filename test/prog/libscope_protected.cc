/* libscope_protected.cc: the same with operators of protected visibility. */
#define PROVIDER "protected"
#define PROVIDER_AS __attribute__((visibility("protected")))
#include "scope_provider.h"

#include "scope_use.h"
