/* memprof.c: what instrumented code calls.
 *
 * Nearly all of it counts by itself. What it calls is this: at its start, once for each object
 * file, and for what the compiler would copy or fill by instructions of its own.
 *
 * The compiler's options decide about granules, and nothing in an object file tells what they were.
 * So heaptap cc has each object call, before all else, a function whose name says it. What was
 * built without heaptap cc calls none, and has the compiler's default, 64 bytes. Since each object
 * file calls __memprof_init once, one more of these calls than of the others means that one has
 * been built without.
 *
 * Where the program is to call us for each access (--exact-threads), the counts are added to
 * atomically.
 */
#include "access/memprof.h"

#include <string.h>

#include "access/access_state.h"
#include "access/counted_blocks.h"
#include "access/counted_calls.h"
#include "access/shadow.h"
#include "platform/sys.h"

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

static struct {
    // Atomic: calls of __heaptap_granule_*, of those for exact threads, and of __memprof_init.
    uint32_t said, exact, begun;
} objects;

static void
granule_is(uint32_t granule_bytes, uint32_t exact)
{
    add_relaxed(&objects.exact, exact);
    shadow_start(granule_bytes);
    // One object that counts as usual is enough for counts to be lost.
    shadow.exact = load_relaxed(&objects.exact) == add_relaxed(&objects.said, 1u) + 1;
    access_publish();
}

EXPORT void
__heaptap_granule_8(void)
{
    granule_is(8, 0);
}

EXPORT void
__heaptap_granule_8_exact(void)
{
    granule_is(8, 1);
}

EXPORT void
__heaptap_granule_16(void)
{
    granule_is(16, 0);
}

EXPORT void
__heaptap_granule_16_exact(void)
{
    granule_is(16, 1);
}

EXPORT void
__heaptap_granule_64(void)
{
    granule_is(64, 0);
}

EXPORT void
__heaptap_granule_64_exact(void)
{
    granule_is(64, 1);
}

EXPORT void
__memprof_init(void)
{
    if (add_relaxed(&objects.begun, 1u) >= load_relaxed(&objects.said)) {
        shadow_start(64);
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

/* Do what WISH says, out of the program's own code. */
static bool
wish(enum disk_access_wish wish)
{
    uint32_t busy = tls.busy;
    bool done;

    if (busy == BUSY_RECORDER) // In a signal handler.
        return false;
    tls.busy = BUSY_RECORDER;
    signal_fence();
    done = access_wish(wish);
    signal_fence();
    tls.busy = busy;
    return done;
}

EXPORT int
__memprof_profile_dump(void)
{
    return wish(DISK_ACCESS_MERGE) ? 0 : -1;
}

EXPORT void
__memprof_profile_reset(void)
{
    wish(DISK_ACCESS_RESET);
}

static inline void
count_exactly(uintptr_t address)
{
    if (likely(shadow_has(address, 1)))
        add_relaxed(shadow_counter(address), UINT64_C(1));
}

EXPORT void
__memprof_load(uintptr_t address)
{
    count_exactly(address);
}

EXPORT void
__memprof_store(uintptr_t address)
{
    count_exactly(address);
}

// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
