/* scan_processes.h: the numbers of all processes. */
#ifndef SERVE_SCAN_PROCESSES_H
#define SERVE_SCAN_PROCESSES_H

#include "serve/metrics.h"
#include "serve/targets.h"

enum scan_state { SCAN_SAME, SCAN_NEW, SCAN_FAILED, SCAN_LEFT_OUT };

/* A process that the server knows. */
struct scanned {
    uint64_t id, content;
    uint64_t read_ns, cost_ns; // When the profile was read last, by the monotonic clock; duration.
    uint32_t pid, inner_pid;
    uint32_t state; // enum scan_state: LEFT_OUT by --only.
    char path[1024];
};

struct scan_job {
    const struct serve_options *options;
    int64_t since;
    const struct scanned *known;
    size_t known_count;
};

/* Job of a worker, with a struct scan_job. Writes a struct scanned for each process. After one that
 * is new follow a struct metrics_process and its named amounts. */
void answer_scan(void *job, int fd);

#endif
