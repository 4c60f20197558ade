/* stepper.c: send a signal at every instruction between two marks of a program.
 *
 *     stepper FIRST STRIDE PROGRAM ARGS...
 *
 * Runs PROGRAM, which repeats an action between two marks (stepper.h). In turn number i, the thread
 * that set the first mark is stepped FIRST + i * STRIDE instructions beyond the mark and is sent
 * SIGUSR1 there. If the handler sets a mark, it is stepped a number of instructions that differs
 * from turn to turn, and is sent SIGUSR2. If a turn ends before that instruction, no signal is
 * sent. Threads and children are followed.
 *
 * Prints on stderr "longest L after A": the instructions between the marks in the last turn that
 * was stepped to its end, and the number of signals sent. Exits with the program's status, with 128
 * + its signal, or with 99 after TIME_LIMIT_S. A test fails if the status is not 0: then the
 * recorder has broken a program that was interrupted inside the recorder. */
#include "stepper.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOB_LIMIT_S = 300, MARGIN_S = 20, INNER_SPAN = 700, INNER_FACTOR = 37 };

static pid_t program;
static long turn, sent, longest;

static unsigned
time_limit_s(void)
{
    const char *seconds = getenv("JOB_SECONDS");

    return (seconds != NULL ? (unsigned)atoi(seconds) : JOB_LIMIT_S) - MARGIN_S;
}

static void
time_is_up(int number)
{
    (void)number;
    kill(program, SIGKILL);
    _exit(99);
}

static int
delivered(int status)
{
    return WIFSTOPPED(status) && status >> 16 == 0 ? WSTOPSIG(status) : 0;
}

/* Step TID by COUNT instructions. If the thread reaches the other mark or ends before that, return
 * false and store the number of executed instructions in *RET_STEPS. */
static bool
stepper_step(pid_t tid, long count, long *ret_steps)
{
    int status;
    int signal = 0;

    for (*ret_steps = 0; *ret_steps < count; (*ret_steps)++) {
        if (ptrace(PTRACE_SINGLESTEP, tid, NULL, (void *)(long)signal) < 0 ||
            waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
            return false;
        if (delivered(status) == MARK_END)
            return false;
        signal = delivered(status) == SIGTRAP ? 0 : delivered(status);
    }
    return true;
}

/* Handle a mark set by TID: send NUMBER after COUNT instructions. */
static void
stepper_interrupt(pid_t tid, long count, int number)
{
    long steps;
    bool current = stepper_step(tid, count, &steps);

    if (current)
        sent++;
    else if (number == SIGUSR1)
        longest = steps;
    ptrace(PTRACE_CONT, tid, NULL, (void *)(long)(current ? number : 0));
}

/* Handle a stop of TID. */
static void
stepper_go_on(pid_t tid, int status, long first, long stride)
{
    int signal = delivered(status);

    if (signal == MARK_BEGIN) {
        stepper_interrupt(tid, first + turn++ * stride, SIGUSR1);
    } else if (signal == MARK_INNER) {
        stepper_interrupt(tid, turn * INNER_FACTOR % INNER_SPAN, SIGUSR2);
    } else {
        if (signal == MARK_END || signal == SIGSTOP || signal == SIGTRAP)
            signal = 0;
        ptrace(PTRACE_CONT, tid, NULL, (void *)(long)signal);
    }
}

static int
trace(long first, long stride)
{
    int status;
    pid_t tid;

    while ((tid = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFSTOPPED(status)) {
            stepper_go_on(tid, status, first, stride);
        } else if (tid == program) {
            fprintf(stderr, "longest %ld after %ld\n", longest, sent);
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
    }
    return 98;
}

int
main(int argc, char **argv)
{
    long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL;
    int status;

    if (argc < 4)
        return 2;
    signal(SIGALRM, time_is_up);
    alarm(time_limit_s());
    program = fork();
    if (program == 0) {
        if (getenv("STEP_PRELOAD") != NULL)
            setenv("LD_PRELOAD", getenv("STEP_PRELOAD"), 1);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execv(argv[3], argv + 3);
        _exit(97);
    }
    if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status)) {
        fprintf(stderr, "stepper: cannot trace %s: %s\n", argv[3], strerror(errno));
        return 96;
    }
    ptrace(PTRACE_SETOPTIONS, program, NULL, (void *)options);
    ptrace(PTRACE_CONT, program, NULL, NULL);
    return trace(atol(argv[1]), atol(argv[2]));
}
