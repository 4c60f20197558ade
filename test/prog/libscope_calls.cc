/* libs: -Wl,-z,lazy */
/* libscope_calls.cc: a plug-in in C++ that only calls operators, so that each can be bound lazily
 * at its first call. */
#define USE_CALLS_ONLY
#include "scope_use.h"
