/* libs: -ldl -Wl,-rpath,$ORIGIN */
/* scope_hidden.cc: a host in C++ that defines operators for itself only. */
#define PROVIDER "program"
#define PROVIDER_AS __attribute__((visibility("hidden")))
#include "scope_provider.h"

#include "scope_hostxx.h"
