/* guard.c: handles two signals: SIGBUS from the recorder's own mappings, and the snapshot signal.
 *
 * A store into a missing page of the mapped profile raises SIGBUS, which would kill the program.
 * Pages are missing if the profile was truncated, if its disk fails, or if a file system that could
 * not reserve blocks is full. So while the program leaves SIGBUS at its default, the recorder
 * handles the signal: it replaces the missing page with zeroed memory and marks the profile as
 * failed, and the program continues. Any other SIGBUS gets the default action, as without the
 * recorder.
 *
 * With a reserve, the handler must not make a system call. So it could neither map memory nor pass
 * on a SIGBUS, and the recorder leaves SIGBUS at its default.
 *
 * The snapshot signal (HEAPTAP_SNAPSHOT_SIGNAL) is handled while the program leaves it at its
 * default. A forked child that will be recorded ignores it until its first event. A child that will
 * never be recorded gets the default action.
 *
 * The handlers are hidden from the program. The functions that return dispositions are intercepted,
 * and return the default instead of a handler of the recorder. A program that sets a disposition
 * replaces the recorder's handler, and is not guarded from then on. A program that starts with
 * SIGBUS ignored is not guarded. A thread that blocks SIGBUS is not guarded either. The only state
 * is the handler's address, so fork and exec need no special treatment. A child made by vfork has
 * separate handlers. If recording starts in such a child, its parent lacks the recorder's handlers,
 * and installs them at its next event (guard_install_pending). */
#include "event/guard.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ucontext.h>

#include "access/counted_blocks.h"
#include "account/account_state.h"
#include "account/file.h"
#include "account/history.h"
#include "allocator/real.h"
#include "base/atomics.h"
#include "event/event_state.h"
#include "platform/process.h"
#include "platform/selection.h"
#include "platform/sys.h"

typedef int sigaction_fn(int, const struct sigaction *, struct sigaction *);
typedef sighandler_t signal_fn(int, sighandler_t);

static int
next_sigaction(int number, const struct sigaction *new, struct sigaction *ret_old)
{
    static void *cache;
    sigaction_fn *f = (sigaction_fn *)real_cached(&cache, "sigaction");

    if (f == NULL) {
        errno = ENOSYS;
        return -1;
    }
    return f(number, new, ret_old);
}

/* Perform the default action of signal NUMBER. A fault repeats by itself when the handler returns.
 * A signal that was SENT by a process must be raised again. */
static void
act_by_default(int number, const siginfo_t *sent)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};

    next_sigaction(number, &usual, NULL);
    if (sent != NULL)
        sys_raise_again(number, sent);
}

static void
on_sigbus(int number, siginfo_t *info, void *context)
{
    int saved_errno = errno;

    (void)context;
    if (info->si_code > 0 && state != NULL && load_acquire(&state->ready) == READY_YES &&
        file_page_gone((uintptr_t)info->si_addr))
        return;
    act_by_default(number, info->si_code <= 0 ? info : NULL);
    errno = saved_errno;
}

static void
on_snapshot(int number, siginfo_t *info, void *context)
{
    uint32_t ready = state != NULL ? load_acquire(&state->ready) : (uint32_t)READY_OFF;
    int saved_errno = errno;

    (void)context;
    if (ready == READY_YES)
        history_signal();
    else if (ready == READY_OFF || sys_is_quiet() || !selection_has_children())
        act_by_default(number, info);
    errno = saved_errno;
}

/* Return true if signal NUMBER can be the snapshot signal. Faults cannot, because the instruction
 * repeats until the fault is handled. */
static bool
may_be_snapshot(int number)
{
    return number > 0 && number != SIGBUS && number != SIGSEGV && number != SIGFPE &&
           number != SIGILL && number != SIGTRAP && number != SIGSYS && number != SIGABRT;
}

static void
take_signal(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction ours = {.sa_sigaction = handler,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | flags};
    struct sigaction old;

    if (next_sigaction(number, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
        old.sa_handler == SIG_DFL)
        next_sigaction(number, &ours, NULL);
}

void
guard_start(void)
{
    int saved_errno = errno;

    if (account_state()->reserve_bytes == 0)
        take_signal(SIGBUS, on_sigbus, SA_NODEFER);
    if (may_be_snapshot((int)account_state()->snapshot_signal))
        take_signal((int)account_state()->snapshot_signal, on_snapshot, 0);
    errno = saved_errno;
}

bool
guard_install_pending(void)
{
    if (identity_is_guest())
        return false;
    event_state()->guard_due = false;
    guard_start();
    return true;
}

static bool
guard_is_ours(uintptr_t handler)
{
    return handler == (uintptr_t)on_sigbus || handler == (uintptr_t)on_snapshot;
}

/* Replace a handler of the recorder in disposition *A by the default, to hide it from the
 * program. */
static void
hide(struct sigaction *a)
{
    if ((a->sa_flags & SA_SIGINFO) && guard_is_ours((uintptr_t)a->sa_sigaction))
        *a = (struct sigaction){.sa_handler = SIG_DFL};
}

static int
hidden_sigaction(int number, const struct sigaction *new, struct sigaction *ret_old)
{
    int result = next_sigaction(number, new, ret_old);

    access_used(new, sizeof *new, result == 0 ? ret_old : NULL, sizeof *ret_old);
    if (result == 0 && ret_old != NULL)
        hide(ret_old);
    return result;
}

EXPORT int
sigaction(int number, const struct sigaction *new, struct sigaction *ret_old)
{
    return hidden_sigaction(number, new, ret_old);
}

int __sigaction(int number, const struct sigaction *new, struct sigaction *ret_old);

EXPORT int
__sigaction(int number, const struct sigaction *new, struct sigaction *ret_old)
{
    return hidden_sigaction(number, new, ret_old);
}

#define SIGNAL(name)                                                                               \
    signal_fn name;                                                                                \
    EXPORT sighandler_t name(int number, sighandler_t handler)                                     \
    {                                                                                              \
        static void *cache;                                                                        \
        signal_fn *f = (signal_fn *)real_cached(&cache, #name);                                    \
        sighandler_t old;                                                                          \
                                                                                                   \
        if (f == NULL) {                                                                           \
            errno = ENOSYS;                                                                        \
            return SIG_ERR;                                                                        \
        }                                                                                          \
        old = f(number, handler);                                                                  \
        return unlikely(guard_is_ours((uintptr_t)old)) ? SIG_DFL : old;                            \
    }

SIGNAL(signal)
SIGNAL(ssignal)
SIGNAL(bsd_signal)
SIGNAL(sysv_signal)
SIGNAL(__sysv_signal)
SIGNAL(sigset)
