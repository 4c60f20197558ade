/* libs: -Wl,-z,lazy */
/* libscope_calls.cc: a plug-in in C++ that only calls operators, so that each call can be bound
 * lazily. */
#define USE_CALLS_ONLY
#include "scope_use.h"
