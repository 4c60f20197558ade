/* targets.h: the profiles that the server shows. */
#ifndef SERVE_TARGETS_H
#define SERVE_TARGETS_H

#include "option/shared_opts.h"
#include "serve/http_request.h"
#include "util/arena.h"

/* The options of the command. */
struct serve_options {
    const char *listen, *token_file;
    struct opt_list directories; // Empty: all recorded processes of this machine.
    struct opt_list label_metrics;
    uint64_t samples_max;
    bool expose_command;
    struct view_options view;
};

struct target {
    const char *what; // Path of the profile, or a process id.
    uint64_t id;      // Identity of the recording, whatever its file is called.
    uint32_t pid;     // Id of the living process in our namespace; 0 = it has ended.
    uint32_t inner_pid; // The recorded id.
    uint64_t content; // Changes when the profile changes; 0 = unknown.
};

/* Find the profiles. With ALL, also those that ended before SINCE, a wall clock time. From
 * ARENA. */
struct target *targets_find(const struct serve_options *o, bool all, int64_t since,
                            struct arena *arena, size_t *ret_count);

/* Set T->content. Reads the profile's bytes, and nothing else. */
void target_look(struct target *t);

/* Keep of the COUNT targets at V those that R requests. Return their number; or 0 with the status
 * of the answer, and its sentence in R. */
size_t targets_pick(struct target *v, size_t count, struct serve_request *r, struct arena *arena);

#endif
