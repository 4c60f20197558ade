/* guarded.c: attach or detach in a separate process, which nobody interrupts.
 *
 * A child of the command, the guardian, does the work, and blocks all signals. If the user kills
 * the command meanwhile, the guardian completes the work, so the process is never left half
 * changed. */
#include "attach/guarded.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Do the work in the guardian, and write the answer to FD. */
static _Noreturn void
work(uint32_t pid, const struct attach_how *how, struct guarded_outcome *w, int fd)
{
    sigset_t all;
    ssize_t got;

    // On a busy machine the threads would wait for us to resume them. Needs a right.
    sched_setscheduler(0, SCHED_RR, &(struct sched_param){.sched_priority = 1});
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid(); // A signal for our process group is not for the guardian.
    w->result = how != NULL ? attach_begin(pid, how, &w->cost, &w->err)
                            : attach_end(pid, &w->cost, &w->err);
    if (w->result != 0 && how != NULL)
        unlink(how->profile); // Here, because the command may have been killed.
    got = write(fd, w, sizeof *w);
    _exit(got == sizeof *w ? 0 : 1);
}

void
guarded_run(uint32_t pid, const struct attach_how *how, struct guarded_outcome *ret)
{
    int pipe_ends[2];
    pid_t guardian;
    ssize_t got;

    *ret = (struct guarded_outcome){.result = HEAPTAP_BUG};
    if (pipe2(pipe_ends, O_CLOEXEC) != 0 || (guardian = fork()) < 0) {
        ret->result = err_errno(&ret->err, HEAPTAP_BAD_INPUT, "cannot start a process");
        if (how != NULL)
            unlink(how->profile);
        return;
    }
    if (guardian == 0)
        work(pid, how, ret, pipe_ends[1]);
    close(pipe_ends[1]);
    do
        got = read(pipe_ends[0], ret, sizeof *ret);
    while (got < 0 && errno == EINTR);
    close(pipe_ends[0]);
    while (waitpid(guardian, NULL, 0) < 0 && errno == EINTR)
        ;
    if (got != sizeof *ret)
        ret->result = err_set(&ret->err, HEAPTAP_BUG, "the process that attaches has died");
}
