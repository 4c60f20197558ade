/* http_request.h: the requests that `heaptap serve` answers, parsed and checked. */
#ifndef SERVE_HTTP_REQUEST_H
#define SERVE_HTTP_REQUEST_H

#include "util/arena.h"

enum serve_what {
    SERVE_NOTHING, // The path is unknown.
    SERVE_INDEX,
    SERVE_HEALTH,
    SERVE_TARGETS,
    SERVE_METRICS,
    SERVE_PPROF_INDEX,
    SERVE_HEAP,
    SERVE_ALLOCS,
    SERVE_PROGRAM,
};

enum { SERVE_SECONDS_MAX = 3600 };

struct serve_request {
    enum serve_what what;
    bool is_pprof;       // The path is below /debug/pprof.
    unsigned status;     // 0 = valid; otherwise the status of the answer.
    const char *why;     // The sentence of that answer, from the arena; NULL = none.
    const char *profile; // Name or path of the requested profile; NULL = not given.
    uint32_t pid;        // The requested process; 0 = not given.
    uint32_t seconds;    // Duration of a difference; 0 = not given.
    bool text;           // debug=1: text instead of a compressed profile.
};

/* Parse URI, the target of a GET request, into RET. Texts are from ARENA. */
void request_parse(const char *uri, struct arena *arena, struct serve_request *ret);

/* Return true if HOST, the value of a Host header (NULL = missing), names this machine's loopback
 * interface. A page of another site, whose name an attacker resolves to 127.0.0.1, sends its own
 * name. */
bool request_host_is_loopback(const char *host);

/* Return true if AUTHORIZATION, the value of a header (NULL = missing), is "Bearer TOKEN". The time
 * does not depend on the position of the first difference. */
bool request_has_token(const char *authorization, const char *token);

#endif
