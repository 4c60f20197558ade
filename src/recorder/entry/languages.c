/* languages.c: implements the functions that language adapters call through heaptap/language.h.
 *
 * The recorder exports one object, heaptap_languages_v1, a table of functions. Adapters may call
 * these functions at any time: before recording starts, in a process that is never recorded, and in
 * a callback, i.e. during an event. So the functions do not begin an event; the exception is
 * `collected`, which is in api.c.
 *
 * An adapter may register in its constructor, before recording starts, or later, when the runtime
 * is loaded. Threads that already record must see the new adapter before their next event, because
 * their allocations may have frames of the language from then on. */
#define HEAPTAP_IS_RECORDER

#include "account/label.h"
#include "account/thread.h"
#include "base/atomics.h"
#include "entry/api.h"
#include "heaptap/language.h"
#include "mixed/language_frames.h"
#include "platform/sys.h"
#include "stack/bounds.h"
#include "unwind/function.h"

static int
api_add(const struct heaptap_language *language)
{
    if (language == NULL || language->size < offsetof(struct heaptap_language, only_in_code) ||
        (language->frames == NULL && language->frames_again == NULL) ||
        (language->look != NULL && language->frames_again == NULL))
        return -1;
    if (!language_add(language))
        return -1;
    if (state != NULL && load_acquire(&state->ready) == READY_YES)
        thread_invalidate_all();
    return 0;
}

static unsigned
api_name(const char *function, const char *file, unsigned line, const char *language)
{
    return named_id(function, file, line, language);
}

static int
api_runtime(const void *start, const void *end)
{
    return language_runtime_code((uintptr_t)start, (uintptr_t)end) ? 0 : -1;
}

static int
api_can_read(const void *p, size_t bytes)
{
    uint64_t first = (uintptr_t)p, end = first + bytes, page_bytes = 4096;
    uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    const struct thread *t = thread_is_ready(tls.self) ? tls.self : NULL;

    // Test each page by a system call, except the pages of the thread's own stack from here
    // outwards.
    for (uint64_t at = first; at < end; at = (at | (page_bytes - 1)) + 1)
        if (!(t != NULL && bounds_is_live(t, here, at)) && !sys_is_readable(at))
            return false;
    return end >= first;
}

static const void *
api_function_of(const void *pc)
{
    return (const void *)(uintptr_t)unwind_function((uintptr_t)pc);
}

static const void *
api_function_end(const void *pc)
{
    return (const void *)(uintptr_t)unwind_function_end((uintptr_t)pc);
}

static size_t
api_moved(const void **from, const void **to)
{
    *from = tls.moved_from;
    *to = tls.moved_to;
    return tls.moved_from != NULL ? tls.moved_bytes : 0;
}

static size_t
api_frames_wanted(void)
{
    return state != NULL ? language_frames_wanted() : LIMIT_DEPTH;
}

EXPORT const struct heaptap_languages heaptap_languages_v1 = {
    .version = 1,
    .size = sizeof(struct heaptap_languages),
    .add = api_add,
    .name = api_name,
    .runtime = api_runtime,
    .can_read = api_can_read,
    .function_of = api_function_of,
    .function_end = api_function_end,
    .moved = api_moved,
    .collected = api_collected,
    .frames_wanted = api_frames_wanted,
};
