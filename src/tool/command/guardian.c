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
#include <time.h>
#include <unistd.h>

enum { RESTS_PER_SECOND = 10 };

static int score; // Of the command, for the out-of-memory killer.

/* Set our score for the kernel's out-of-memory killer: -1000 = spare us. Needs a right. Return the
 * earlier one. */
static int
set_score(int value)
{
    FILE *f = fopen("/proc/self/oom_score_adj", "r+e");
    int before = 0;

    if (f == NULL)
        return 0;
    if (fscanf(f, "%d", &before) == 1) {
        rewind(f);
        fprintf(f, "%d", value);
    }
    fclose(f);
    return before;
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
        score = set_score(-1000);
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
guardian_rest(uint64_t seconds)
{
    static const struct timespec slice = {.tv_nsec = 1000000000 / RESTS_PER_SECOND};

    for (uint64_t i = 0; i < seconds * RESTS_PER_SECOND; i++) {
        nanosleep(&slice, NULL);
        if (command != 0 && getppid() != command)
            _exit(1);
    }
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
    set_score(score);
    sigprocmask(SIG_SETMASK, &mask, NULL);
}
