/* libs: -Wl,--wrap=remote_syscall,--wrap=remote_call,--wrap=target_write */
/* tool_attach_faults.c: attach to a process or detach from it, while one step fails.
 *
 *     tool_attach_faults attach LIBRARY PID PROFILE KIND K
 *     tool_attach_faults detach LIBRARY PID PROFILE KIND K
 *
 * LIBRARY is libheaptap_attach.so. The K-th step of KIND fails; K counts from 1:
 *
 *     call      a system call that the tool makes in the process, with ENOMEM
 *     function  a call of a function of the recorder, as if it raised SIGSEGV
 *     write     a write to the memory of the process, with EIO
 *     recorder  a system call of the recorder's functions, with ENOMEM. Three do not count: the
 *               kernel refuses munmap only if it would split a mapping, and fstat and close of no
 *               open file
 *
 * Prints three lines: the failed step (the number of a system call, 0 for others), or "none" if
 * there are fewer than K; the result; the message. The linker leads the calls here (--wrap). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "attach/attach.h"
#include "attach/remote.h"
#include "format/environment.h"

enum { CALL_STOP = SIGTRAP | 0x80 };

static const char *kind;
static long to_come; // Steps until the one that fails; negative = it has failed.
static long failed;  // Number of the failed system call.

long __real_remote_syscall(struct remote *r, long number, uint64_t a, uint64_t b, uint64_t c,
                           uint64_t d, uint64_t e, uint64_t f);
long __wrap_remote_syscall(struct remote *r, long number, uint64_t a, uint64_t b, uint64_t c,
                           uint64_t d, uint64_t e, uint64_t f);
bool __real_remote_call(struct remote *r, uint64_t function, long *ret_result, int *ret_fault);
bool __wrap_remote_call(struct remote *r, uint64_t function, long *ret_result, int *ret_fault);
bool __real_target_write(const struct target *t, uint64_t address, const void *bytes,
                         size_t size_bytes);
bool __wrap_target_write(const struct target *t, uint64_t address, const void *bytes,
                         size_t size_bytes);

/* Return true if this step, of kind ITS and perhaps a system call NUMBER, fails. */
static bool
fails(const char *its, long number)
{
    if (strcmp(kind, its) != 0 || to_come < 0 || --to_come > 0)
        return false;
    to_come = -1;
    failed = number;
    return true;
}

long
__wrap_remote_syscall(struct remote *r, long number, uint64_t a, uint64_t b, uint64_t c,
                      uint64_t d, uint64_t e, uint64_t f)
{
    return fails("call", number) ? -ENOMEM : __real_remote_syscall(r, number, a, b, c, d, e, f);
}

bool
__wrap_target_write(const struct target *t, uint64_t address, const void *bytes,
                    size_t size_bytes)
{
    if (!fails("write", 0))
        return __real_target_write(t, address, bytes, size_bytes);
    errno = EIO;
    return false;
}

/* Let thread TID run to its next stop at a system call and read its registers. Return false if it
 * stops elsewhere. */
static bool
next_stop(pid_t tid, struct user_regs_struct *ret)
{
    int status;

    return ptrace(PTRACE_SYSCALL, tid, NULL, NULL) == 0 &&
           waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status) &&
           WSTOPSIG(status) == CALL_STOP && ptrace(PTRACE_GETREGS, tid, NULL, ret) == 0;
}

static bool
is_counted(uint64_t number)
{
    return number != SYS_munmap && number != SYS_fstat && number != SYS_close;
}

/* Like remote_call, and stop at each system call. */
static bool
call_in_steps(struct remote *r, uint64_t function, long *ret_result)
{
    struct user_regs_struct registers = r->threads->v[0].registers;
    pid_t tid = (pid_t)r->threads->v[0].tid;

    registers.rip = r->call_at;
    registers.rax = function;
    registers.orig_rax = UINT64_MAX;
    registers.rsp = r->stack_top;
    if (ptrace(PTRACE_SETREGS, tid, NULL, &registers) != 0)
        return false;
    for (;;) {
        bool is_last, skipped;

        if (!next_stop(tid, &registers))
            return false;
        is_last = registers.orig_rax == SYS_pause;
        skipped = is_last || (is_counted(registers.orig_rax) &&
                              fails("recorder", (long)registers.orig_rax));
        if (skipped) {
            registers.orig_rax = UINT64_MAX;
            ptrace(PTRACE_SETREGS, tid, NULL, &registers);
        }
        if (!next_stop(tid, &registers))
            return false;
        if (is_last)
            break;
        if (skipped) {
            registers.rax = (uint64_t)-ENOMEM;
            ptrace(PTRACE_SETREGS, tid, NULL, &registers);
        }
    }
    *ret_result = (long)target_word(r->threads->target, r->stack_top + 16);
    return true;
}

bool
__wrap_remote_call(struct remote *r, uint64_t function, long *ret_result, int *ret_fault)
{
    *ret_fault = 0;
    if (strcmp(kind, "recorder") == 0)
        return call_in_steps(r, function, ret_result);
    if (!fails("function", 0))
        return __real_remote_call(r, function, ret_result, ret_fault);
    *ret_fault = SIGSEGV;
    return false;
}

int
main(int argc, char **argv)
{
    char settings[8192];
    struct attach_how how = {.settings = settings};
    struct attach_cost cost;
    struct err err = {""};
    uint32_t pid;
    int result;

    if (argc != 7)
        return 2;
    how.library = argv[2];
    pid = (uint32_t)strtoul(argv[3], NULL, 10);
    how.profile = argv[4];
    kind = argv[5];
    to_come = strtol(argv[6], NULL, 10);
    how.settings_bytes = (size_t)snprintf(settings, sizeof settings, "%s=%s%c%s=4194304%c",
                                          ENVIRONMENT_OUT, how.profile, 0, ENVIRONMENT_RESERVE, 0);
    if (strcmp(argv[1], "attach") == 0) {
        how.profile_fd = open(how.profile, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        result = attach_begin(pid, &how, &cost, &err);
    } else {
        result = attach_end(pid, &cost, &err);
    }
    if (to_come >= 0)
        puts("none");
    else
        printf("%ld\n", failed);
    printf("%d\n%s\n", result, err.text);
    return 0;
}
