/* enter.c: the slow path of the beginning of an event. */
#include "event/enter.h"

#include "event/join.h"
#include "event/way.h"

COLD struct thread *
enter_slowly(struct thread *t)
{
    if (!thread_is_ready(t))
        t = join_thread();
    if (t != NULL && load_relaxed(&t->ready) != THREAD_APART) {
        join_look_up(t);
        way_adopt();
    }
    return t;
}

COLD struct thread *
enter_cold(uint64_t slot)
{
    return enter(slot);
}

COLD void
enter_ends_cold(void)
{
    enter_ends();
}
