/* unload.h: our dlclose, for ourselves, whoever has its name. */
#ifndef MONITOR_UNLOAD_H
#define MONITOR_UNLOAD_H

#include "monitor/behind.h"

dlclose_fn own_dlclose;

#endif
