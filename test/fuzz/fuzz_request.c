/* fuzz_request.c: parse arbitrary requests to the server.
 *
 * The input is the target of a request, a zero byte, and the value of a Host and of an
 * Authorization header. For any input, a valid request has a page and parameters within their
 * limits, and a refused one has a sentence. */
/* covers: http_request.c */
#include <stdlib.h>
#include <string.h>

#include "serve/http_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
request_require(bool condition)
{
    if (!condition)
        __builtin_trap();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    char *text = malloc(size + 2);
    struct serve_request r;
    const char *header;

    memcpy(text, data, size);
    text[size] = text[size + 1] = '\0';
    header = text + strlen(text) + 1;
    request_parse(text, &arena, &r);
    request_require(r.status == 0 || r.status == 400 || r.status == 404);
    request_require((r.status == 0) == (r.why == NULL));
    request_require(r.status != 0 || r.what != SERVE_NOTHING);
    request_require(r.seconds <= SERVE_SECONDS_MAX && r.pid <= INT32_MAX);
    request_require(r.status != 0 || r.pid == 0 || r.profile == NULL);
    request_require(!request_host_is_loopback(header) || *header == '1' || *header == '[' ||
                    (*header | 0x20) == 'l');
    request_require(!request_has_token(header, "token") ||
                    strlen(header) == strlen("Bearer token"));
    arena_release(&arena);
    free(text);
    return 0;
}
