/* attached.h: the request of the tool that attached the recorder to this process. */
#ifndef PLATFORM_ATTACHED_H
#define PLATFORM_ATTACHED_H

#include "format/attach_request.h"

extern struct attach_request heaptap_attach_request;

#endif
