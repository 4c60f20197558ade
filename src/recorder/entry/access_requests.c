/* access_requests.c: carries out the program's requests about its accesses, under the names of
 * clang's library. access/memprof.c has the functions that instrumented code calls. */
#ifdef HEAPTAP_ACCESS

#include "access/counted_blocks.h"
#include "event/reentry.h"
#include "format/format.h"

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

/* __memprof_profile_dump: merge live blocks into the profile; return 0 on success.
 * __memprof_profile_reset: discard all counts. */
int __memprof_profile_dump(void);
void __memprof_profile_reset(void);

/* Carry out REQUEST, called from the program's code at SLOT. Return false if the recorder is
 * busy. */
static bool
carry_out(enum disk_access_request request, uint64_t slot)
{
    struct reentry_saved saved;
    bool done;

    if (reentry_is_in_recorder()) // A signal handler has interrupted the recorder.
        return false;
    saved = reentry_interrupt(slot);
    done = access_request(request);
    reentry_restore(&saved);
    return done;
}

EXPORT int
__memprof_profile_dump(void)
{
    return carry_out(DISK_ACCESS_MERGE, ARCH_SLOT()) ? 0 : -1;
}

EXPORT void
__memprof_profile_reset(void)
{
    carry_out(DISK_ACCESS_RESET, ARCH_SLOT());
}

// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

#endif
