/* guard.c: SIGBUS from our own mappings.
 *
 * Somebody truncates the profile while it is mapped, its disk fails, or a file system that could
 * not reserve blocks is full: then the next store into a page that is gone raises SIGBUS, and the
 * program would die of it. So while the program has SIGBUS at its default, we handle it: a page of
 * ours is replaced by zeroed memory, the profile is marked as failed, and the program goes on. Any
 * other SIGBUS gets the default action, as if we were not there.
 *
 * The program must not see that. The functions by which it looks at dispositions are intercepted
 * and say "default" where they would name our handler. A program that sets a disposition of its own
 * simply replaces ours, and is without a guard from then on; so is one that had SIGBUS ignored from
 * the start, and a thread that blocks it. Nothing is remembered here but the handler's address, so
 * fork, vfork and exec need no care.
 */
#include "monitor/guard.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ucontext.h>

#include "base/atomics.h"
#include "monitor/file.h"
#include "monitor/next.h"
#include "monitor/sys.h"

typedef int sigaction_fn(int, const struct sigaction *, struct sigaction *);
typedef sighandler_t signal_fn(int, sighandler_t);

/* The function NAME behind ours; found once. */
static void *
behind(void **cache, const char *name)
{
    void *f = load_acquire(cache);

    if (f == NULL) {
        f = next_symbol(name, 0);
        store_release(cache, f);
    }
    return f;
}

static int
next_sigaction(int number, const struct sigaction *new, struct sigaction *ret_old)
{
    static void *cache;
    sigaction_fn *f = (sigaction_fn *)behind(&cache, "sigaction");

    if (f == NULL) {
        errno = ENOSYS;
        return -1;
    }
    return f(number, new, ret_old);
}

static void
on_sigbus(int number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    struct sigaction dies = {.sa_handler = SIG_DFL};

    (void)context;
    if (info->si_code > 0 && state != NULL && load_acquire(&state->ready) == READY_YES &&
        file_page_gone((uintptr_t)info->si_addr))
        return;
    // A fault comes again when we return; what somebody sent must be sent again.
    next_sigaction(number, &dies, NULL);
    if (info->si_code <= 0)
        sys_tgkill(sys_getpid(), sys_gettid(), number);
    errno = saved_errno;
}

void
guard_start(void)
{
    struct sigaction ours = {.sa_sigaction = on_sigbus,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER};
    struct sigaction old;
    int saved_errno = errno;

    if (next_sigaction(SIGBUS, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
        old.sa_handler == SIG_DFL)
        next_sigaction(SIGBUS, &ours, NULL);
    errno = saved_errno;
}

/* What the program is to see of disposition *A. */
static void
hide(struct sigaction *a)
{
    if ((a->sa_flags & SA_SIGINFO) && a->sa_sigaction == on_sigbus)
        *a = (struct sigaction){.sa_handler = SIG_DFL};
}

static int
hidden_sigaction(int number, const struct sigaction *new, struct sigaction *ret_old)
{
    int result = next_sigaction(number, new, ret_old);

    if (unlikely(number == SIGBUS) && result == 0 && ret_old != NULL)
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
        signal_fn *f = (signal_fn *)behind(&cache, #name);                                         \
        sighandler_t old;                                                                          \
                                                                                                   \
        if (f == NULL) {                                                                           \
            errno = ENOSYS;                                                                        \
            return SIG_ERR;                                                                        \
        }                                                                                          \
        old = f(number, handler);                                                                  \
        return unlikely((uintptr_t)old == (uintptr_t)on_sigbus) ? SIG_DFL : old;                   \
    }

SIGNAL(signal)
SIGNAL(ssignal)
SIGNAL(bsd_signal)
SIGNAL(sysv_signal)
SIGNAL(__sysv_signal)
SIGNAL(sigset)
