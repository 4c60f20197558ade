/* unload.h: our dlclose, for ourselves, whoever has its name. */
#ifndef ENTRY_UNLOAD_H
#define ENTRY_UNLOAD_H

#include "allocator/behind.h"

dlclose_fn own_dlclose;

#endif
