/* cflags: -fno-pie -no-pie */
/* libs: -ldl -Wl,-rpath,$ORIGIN */
/* scope_nopie.cc: a host in C++ at fixed addresses: its symbol table has values for operators that
 * it only refers to, and these are the addresses that all objects see. */
#include "scope_hostxx.h"
