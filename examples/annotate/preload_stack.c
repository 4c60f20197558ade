/* preload_stack.c: the system functions that preload_config.h requires on Linux: stacks by the
 * unwind tables, and a lock that survives fork. The unwinder may allocate at its first use; the
 * stack of these blocks is only their caller. */
#include <unwind.h>

#include "preload_config.h"

pthread_mutex_t preload_lock = PTHREAD_MUTEX_INITIALIZER;

struct walk {
    uintptr_t *frames;
    unsigned count, max;
};

static __attribute__((tls_model("initial-exec"))) __thread int is_walking;

static _Unwind_Reason_Code
note_frame(struct _Unwind_Context *context, void *arg)
{
    struct walk *w = arg;
    uintptr_t address = (uintptr_t)_Unwind_GetIP(context);

    if (address == 0 || w->count == w->max)
        return _URC_END_OF_STACK;
    w->frames[w->count++] = address;
    return _URC_NO_REASON;
}

unsigned
preload_stack(uintptr_t *frames, unsigned max)
{
    struct walk w = {frames, 0, max};

    if (is_walking)
        return 0;
    is_walking = 1;
    _Unwind_Backtrace(note_frame, &w);
    is_walking = 0;
    return w.count;
}

static void
lock(void)
{
    pthread_mutex_lock(&preload_lock);
}

static void
unlock(void)
{
    pthread_mutex_unlock(&preload_lock);
}

__attribute__((constructor)) static void
survive_forks(void)
{
    pthread_atfork(lock, unlock, unlock);
}
