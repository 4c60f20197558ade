/* known.h: the processes that the server knows, and their latest numbers. */
#ifndef SERVE_KNOWN_H
#define SERVE_KNOWN_H

#include "serve/scan_processes.h"

struct known {
    struct scanned *scanned; // count entries, in order of appearance.
    struct metrics_row *rows;
    bool *has_numbers;
    size_t count, capacity;
};

/* Take the output of answer_scan. Processes that it lacks have ended. Return false if it is cut
 * short; then nothing changes. */
bool known_take(struct known *k, const struct strbuf *output);

/* Append the text for Prometheus, of all processes or of those that R requests. Return 0; or the
 * status of an error, with its sentence in R. */
unsigned known_metrics(const struct known *k, struct serve_request *r, struct arena *arena,
                       struct strbuf *out);

/* Append the running processes as targets for Prometheus' http_sd; ADDRESS is the server's. */
void known_targets(const struct known *k, const char *address, struct strbuf *out);

void known_release(struct known *k);

#endif
