/* adapt.c: registers language adapters.
 *
 * An adapter may register before recording starts, in its constructor, or later, when the runtime
 * is loaded. Threads that already record must notice it before their next event, because from then
 * on their allocations may have frames of the language. */
#include "event/stack_frames.h"

#include "account/thread.h"
#include "base/atomics.h"
#include "mixed/language_frames.h"
#include "platform/sys.h"
#include "stack/bounds.h"

bool
adapt_language(const struct heaptap_language *language)
{
    if (!language_add(language))
        return false;
    if (state != NULL && load_acquire(&state->ready) == READY_YES)
        thread_invalidate_all();
    return true;
}

bool
adapt_runtime_code(uint64_t start, uint64_t end)
{
    return language_runtime_code(start, end);
}

bool
adapt_can_read(uint64_t first, uint64_t end)
{
    uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0), page_bytes = 4096;
    const struct thread *t = thread_is_ready(tls.self) ? tls.self : NULL;

    for (uint64_t at = first; at < end; at = (at | (page_bytes - 1)) + 1)
        if (!(t != NULL && bounds_is_live(t, here, at)) && !sys_is_readable(at))
            return false;
    return true;
}

size_t
adapt_frames_wanted(void)
{
    return state != NULL ? language_frames_wanted() : LIMIT_DEPTH;
}
