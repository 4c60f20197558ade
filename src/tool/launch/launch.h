/* launch.h: start a program with the recorder in it, and end as it ended. */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include <sys/types.h>

#include "util/arena.h"
#include "util/err.h"

struct launch {
    const char *path;
    char **arguments;
    // Return the program's environment. Called in the new process, so that it can contain the
    // process id.
    char **(*environment)(void *arg);
    void *environment_arg;
    // Called repeatedly while process PID runs, first soon after its start. Return the ns until the
    // next call, which may come earlier.
    uint64_t (*look)(void *arg, pid_t pid);
    void *look_arg;
};

/* Run the program and wait for its end. Signals from the terminal reach both processes, and only
 * the program acts on them. Other signals to `run` are forwarded. `run` stops when job control
 * stops the program. Returns 0, or HEAPTAP_BAD_INPUT with ERR set if the program cannot be
 * started. */
int launch_wait(const struct launch *l, pid_t *ret_pid, int *ret_status, struct err *err);

/* Return true if a signal after the program's end has requested our end. */
bool launch_interrupted(void);

/* End this process as a program with the wait status STATUS ended: with the same exit code or
 * signal. */
_Noreturn void launch_end_like(int status);

#endif
