/* load.h: from the tables of a file to the model. */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include "profile/profile.h"

/* Parse and load the bytes of a profile file. Returns 0 or HEAPTAP_BAD_INPUT. */
int load_bytes(const void *data, size_t size_bytes, const char *name, struct profile **ret_profile,
               struct err *err);

#endif
