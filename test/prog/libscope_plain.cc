/* libscope_plain.cc: a plug-in in C++ that defines no operators. */
#include "scope_use.h"
