/* languages.c: the functions that adapters for languages call through heaptap/language.h.
 *
 * The recorder exports one object, heaptap_languages_v1, a table of functions. They may be called
 * at any time: before recording starts, in a process that is never recorded, and from an adapter's
 * callback, i.e. during an event. So none of them begins an event, except `collected`, which is in
 * api.c. */
#define HEAPTAP_IS_RECORDER

#include "account/label.h"
#include "entry/api.h"
#include "event/stack_frames.h"
#include "heaptap/language.h"
#include "unwind/function.h"

static int
api_add(const struct heaptap_language *language)
{
    if (language == NULL || language->size < sizeof *language ||
        (language->frames == NULL && language->frames_again == NULL) ||
        (language->look != NULL && language->frames_again == NULL))
        return -1;
    return adapt_language(language) ? 0 : -1;
}

static unsigned
api_name(const char *function, const char *file, unsigned line, const char *language)
{
    return named_id(function, file, line, language);
}

static int
api_runtime(const void *start, const void *end)
{
    return adapt_runtime_code((uintptr_t)start, (uintptr_t)end) ? 0 : -1;
}

static int
api_can_read(const void *p, size_t bytes)
{
    uint64_t first = (uintptr_t)p;

    return first + bytes >= first && adapt_can_read(first, first + bytes);
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
    return adapt_frames_wanted();
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
