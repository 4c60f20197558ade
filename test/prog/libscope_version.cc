/* libs: -Wl,--no-as-needed -lscope_versioned -Wl,-rpath,$ORIGIN */
/* libscope_version.cc: a plug-in in C++ that refers to the operators of libscope_versioned.so, by
 * their version. */
#include "scope_use.h"
