/* memprof.c: the functions that instrumented code calls.
 *
 * Most instrumented code counts inline. It calls functions of this file at its start, once per
 * object file, and for copies and fills that the compiler would otherwise generate inline.
 *
 * The compiler's options determine the granules, and an object file does not record them. So
 * heaptap cc makes each object first call a function whose name gives them. Objects built without
 * heaptap cc make no such call, and have the compiler's default, 64 bytes. Each object file calls
 * __memprof_init once. So if __memprof_init is called more often than the functions that give
 * granules, an object was built without heaptap cc.
 *
 * With --reads-writes and --exact-threads the program calls a function for each access. So the
 * function can distinguish reads from writes, or add atomically. */
#include "access/memprof.h"

#include <string.h>

#include "access/access_state.h"
#include "access/counted_blocks.h"
#include "access/counted_calls.h"
#include "access/counted_objects.h"
#include "access/shadow.h"
#include "platform/sys.h"

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

static struct {
    // Atomic: numbers of calls. `said` counts __heaptap_granule_*, `exact` its variants for exact
    // threads, and `begun` __memprof_init.
    uint32_t said, exact, begun;
} objects;

static void
granule_is(uint32_t granule_bytes, bool separate, uint32_t exact)
{
    uint32_t all_exact = add_relaxed(&objects.exact, exact) + exact;

    shadow_start(granule_bytes, separate);
    // Counts are exact only if all objects count atomically.
    shadow.exact = all_exact == add_relaxed(&objects.said, 1u) + 1;
    shadow.atomic = all_exact != 0;
    access_publish();
}

#define GRANULE(name, granule_bytes, separate, exact)                                              \
    EXPORT void __heaptap_granule_##name(void)                                                     \
    {                                                                                              \
        granule_is(granule_bytes, separate, exact);                                                \
    }
GRANULES(GRANULE)

EXPORT void
__heaptap_structures_by_value(void)
{
    uncounted_note(UNCOUNTED_BY_VALUE);
}

EXPORT void
__heaptap_atomic_operations(void)
{
    uncounted_note(UNCOUNTED_ATOMIC);
}

EXPORT void
__heaptap_assembler(void)
{
    uncounted_note(UNCOUNTED_ASSEMBLER);
}

EXPORT void
__memprof_init(void)
{
    if (add_relaxed(&objects.begun, 1u) >= load_relaxed(&objects.said)) {
        shadow_start(64, false);
        access_publish();
    }
}

EXPORT void
__memprof_version_mismatch_check_v1(void)
{
}

EXPORT void *
__memprof_memcpy(void *to, const void *from, size_t size_bytes)
{
    return counted_memcpy(to, from, size_bytes);
}

EXPORT void *
__memprof_memmove(void *to, const void *from, size_t size_bytes)
{
    return counted_memmove(to, from, size_bytes);
}

EXPORT void *
__memprof_memset(void *to, int c, size_t size_bytes)
{
    return counted_memset(to, c, size_bytes);
}

EXPORT void
__memprof_load(uintptr_t address)
{
    shadow_count_one(address, SHADOW_READ);
}

EXPORT void
__memprof_store(uintptr_t address)
{
    shadow_count_one(address, SHADOW_WRITE);
}

// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
