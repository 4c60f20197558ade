/* http_server.h: the server itself. */
#ifndef SERVE_HTTP_SERVER_H
#define SERVE_HTTP_SERVER_H

#include "serve/targets.h"
#include "util/err.h"

/* Serve under OPTIONS until a signal ends it. Returns 0, or an error with ERR set; HEAPTAP_USAGE if
 * this build has no HTTP library. */
int server_run(const struct serve_options *options, struct err *err);

#endif
