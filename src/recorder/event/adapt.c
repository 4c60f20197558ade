/* adapt.c: an adapter for a language comes.
 *
 * That may be before anything is recorded, in the adapter's constructor, or when the runtime is
 * loaded later. Threads that are there already look it up before their next event, because from
 * then on their allocations may have frames of the language.
 */
#include "event/adapt.h"

#include "account/thread.h"
#include "base/atomics.h"
#include "stack/language_frames.h"

bool
adapt_language(const struct heaptap_language *language)
{
    if (!language_add(language))
        return false;
    if (state != NULL && load_acquire(&state->ready) == READY_YES)
        thread_tell_all();
    return true;
}

bool
adapt_runtime_code(uint64_t start, uint64_t end)
{
    return language_runtime_code(start, end);
}
