/* libs: -Wl,-Bsymbolic */
/* libscope_symbolic.cc: a plug-in in C++ whose references bind to its own operators, whatever other
 * definitions are in its scope. */
#define PROVIDER "symbolic"
#include "scope_provider.h"

#include "scope_use.h"
