/* language_adapters.c: stores the language adapters, and the code ranges of their runtimes. Both
 * lists only grow. All threads read them at each event without a lock, because a list's count is
 * published after the entries that it covers. */
#define HEAPTAP_IS_RECORDER

#include "mixed/language_frames.h"

#include "base/atomics.h"
#include "heaptap/language.h"

enum {
    RUNTIME_RANGES = 64,
};

uint32_t language_count;
const struct heaptap_language *language_adapters[LANGUAGES];
struct language_needs language_needs;

static struct {
    uint64_t start, end; // Atomic. `end` is written last; 0 = unused.
} runtime[RUNTIME_RANGES];
static uint32_t runtime_count; // Atomic; may exceed the capacity.

/* Return true if LANGUAGE has frames only in stacks with code of its runtime. Older adapters do not
 * have the member. */
static bool
is_only_in_code(const struct heaptap_language *language)
{
    return language->size >= sizeof *language && language->only_in_code;
}

bool
language_add(const struct heaptap_language *language)
{
    uint32_t count = load_acquire(&language_count);

    // No CAS is needed: constructors add adapters one after the other.
    if (count >= LANGUAGES)
        return false;
    language_adapters[count] = language;
    if (language->look != NULL)
        store_release(&language_needs.look, 1u);
    if (language->code != NULL)
        store_release(&language_needs.code, 1u);
    if (language->place != NULL)
        store_release(&language_needs.place, 1u);
    if ((language->look == NULL && !is_only_in_code(language)) || language->code != NULL)
        store_release(&language_needs.ask, 1u);
    if (language->look == NULL)
        store_release(&language_needs.whole, 1u);
    store_release(&language_count, count + 1);
    return true;
}

bool
language_runtime_code(uint64_t start, uint64_t end)
{
    uint32_t index = add_relaxed(&runtime_count, 1u);

    if (index >= RUNTIME_RANGES || start >= end)
        return false;
    store_relaxed(&runtime[index].start, start);
    store_release(&runtime[index].end, end);
    return true;
}

/* Return the index of the range of runtime code that contains the call before PC. Return
 * RUNTIME_RANGES if there is none. */
static uint32_t
runtime_around(uint64_t pc)
{
    uint32_t count = load_relaxed(&runtime_count);

    for (uint32_t i = 0; i < count && i < RUNTIME_RANGES; i++)
        if (pc - 1 < load_acquire(&runtime[i].end) && pc - 1 >= load_relaxed(&runtime[i].start))
            return i;
    return RUNTIME_RANGES;
}

bool
language_is_runtime(uint64_t pc)
{
    return runtime_around(pc) < RUNTIME_RANGES;
}

/* Return true if RANGE of the runtime code is code of an adapter. */
static bool
is_adapter(uint32_t range)
{
    uint64_t start = load_relaxed(&runtime[range].start), end = load_relaxed(&runtime[range].end);
    uint32_t number = load_acquire(&language_count);

    for (uint32_t i = 0; i < number; i++) {
        const struct heaptap_language *l = language_adapters[i];
        uint64_t its = l->frames_again != NULL ? (uintptr_t)l->frames_again : (uintptr_t)l->frames;

        if (its >= start && its < end)
            return true;
    }
    return false;
}

bool
language_is_interpreter(uint64_t pc)
{
    uint32_t range = runtime_around(pc);

    return range < RUNTIME_RANGES && !is_adapter(range);
}
