/* libs: -Wl,--no-as-needed -lscope_one -Wl,-rpath,$ORIGIN */
/* libscope_needy.cc: a plug-in in C++ that needs a library which defines operators. */
#include "scope_use.h"
