/* api.h: the table of functions that programs call; see api.c. */
#ifndef ENTRY_API_H
#define ENTRY_API_H

#define HEAPTAP_IS_RECORDER
#include "heaptap/heaptap.h"

#endif
