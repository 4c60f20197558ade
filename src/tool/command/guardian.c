/* guardian.c: work in a child that outlives the command.
 *
 * A command that changes another process may be killed at any instant, and a thread whose registers
 * it has borrowed would run with the wrong ones. SIGKILL cannot be blocked, but it is sent to the
 * command, whose id the user sees, and not to its child. */
#include "command/guardian.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ask the kernel's out-of-memory killer to spare us. Needs a right. */
static void
be_spared(const char *score)
{
    FILE *f = fopen("/proc/self/oom_score_adj", "we");

    if (f == NULL)
        return;
    fputs(score, f);
    fclose(f);
}

static pid_t command; // Process that waits for the guardian; 0 = we are no guardian.
static sigset_t mask; // Signals that the command blocks.

bool
guardian_begin(int *ret_code)
{
    pid_t self = getpid(), child;
    sigset_t all;
    int status;

    fflush(NULL); // Otherwise the child would write the buffers again.
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    child = fork();
    if (child == 0) {
        command = self;
        be_spared("-1000");
        setsid(); // A signal for our process group is not for the guardian.
        return false;
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (child < 0)
        return false;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    *ret_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

void
guardian_end(void)
{
    if (command == 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != command)
        _exit(1);
    command = 0;
    be_spared("0");
    sigprocmask(SIG_SETMASK, &mask, NULL);
}
