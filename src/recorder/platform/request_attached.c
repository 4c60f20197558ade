/* request_attached.c: defines the request that the tool fills in before its first call. */
#include "platform/attached.h"

#include "base/base.h"

EXPORT struct attach_request heaptap_attach_request = {.magic = ATTACH_MAGIC,
                                                       .version = ATTACH_VERSION};
