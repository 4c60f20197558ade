/* control.h: request a change of the recording mode, or a snapshot, from a recorder through its
 * profile. */
#ifndef PROFILE_CONTROL_H
#define PROFILE_CONTROL_H

#include "profile/processes.h"
#include "util/err.h"

struct control {
    int fd;
    uint32_t pid; // Process id in our namespace if visible, else the id in the profile.
    char name[48]; // Process for people: "4711", or "4711 (2 in its namespace)".
    struct owner owner;
    uint64_t generation; // Sequence number of the last request.
};

/* Open the profile PATH of a living process for requests. Returns 0, after which control_close must
 * follow, or HEAPTAP_BAD_INPUT with ERR set. */
int control_open(const char *path, struct control *ret, struct err *err);
void control_close(struct control *c);

/* Request MODE with PERIOD, exact recording with the callers of one allocation in PERIOD, or a
 * snapshot called NAME, which is cut to its field. Waits at most
 * WAIT_NS for other tools. Returns 0, after which control_finish must follow, or HEAPTAP_BAD_INPUT
 * or HEAPTAP_NOT_FOUND with ERR set. */
int control_request_mode(struct control *c, enum disk_mode mode, uint64_t period, uint64_t wait_ns,
                         struct err *err);
int control_request_callers(struct control *c, uint64_t period, uint64_t wait_ns,
                            struct err *err);
int control_request_snapshot(struct control *c, const char *name, uint64_t wait_ns,
                             struct err *err);

/* Wait up to WAIT_NS for the recorder's answer. Returns 0, or on a timeout HEAPTAP_NOT_FOUND with
 * ERR set; the request then stays pending. */
int control_finish(struct control *c, uint64_t wait_ns, struct err *err);

/* Request a snapshot without waiting for it. Does nothing while another request is pending. */
void control_post_snapshot(struct control *c, const char *name, enum disk_snapshot_kind kind);

#endif
