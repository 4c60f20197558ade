/* constructor.c: does the recorder's work when the program is loaded, and when it exits.
 *
 * At load time there is mostly no work: recording starts with the first event, which may come long
 * before the constructor or never. There are four exceptions. With a reserve, recording starts
 * here at the latest, before the program can forbid system calls. With a snapshot signal, it starts
 * before a signal can arrive. With --fail-on, the counts of unrecorded processes are mapped before
 * the program can change its environment. In a program linked with the recorder, it starts before
 * there are threads; no other place guarantees that. */
#include "access/counted_blocks.h"
#include "account/account_state.h"
#include "account/file.h"
#include "allocator/symbols.h"
#include "base/atomics.h"
#include "entry/entry.h"
#include "event/reentry.h"
#include "event/start.h"
#include "event/tick.h"
#include "format/environment.h"
#include "platform/host.h"
#include "platform/mem.h"
#include "platform/process.h"
#include "platform/state.h"
#include "platform/unrecorded.h"

static bool
is_recording(void)
{
    return state != NULL && load_acquire(&state->ready) == READY_YES;
}

__attribute__((constructor)) static void
process_begins(void)
{
    struct reentry_saved saved = reentry_save();
    const char *own_malloc;

    real_calls_resolve(); // Resolve now: even a program without events may ask which functions
                          // exist.
    announce_recorder();
    identity_own();
    // If dormant, a second recorder is in the process and counts the program.
    if (!dormant_here() && unrecorded_start() &&
        (own_malloc = symbols_defined_before("malloc")) != NULL) {
        unrecorded_add_own_malloc(own_malloc);
        if (load_relaxed(&unrecorded_front_is_silent) != 0)
            tls.exact = false; // If this thread has had an event, it takes the fast path of malloc.
    }
    if (tls.self == NULL &&
        (dormant_starts_early() || host_environment(ENVIRONMENT_RESERVE) != NULL ||
         host_environment(ENVIRONMENT_SNAPSHOT_SIGNAL) != NULL)) {
        reentry_enter(ARCH_SLOT());
        join_thread();
    }
    if (is_recording() && account_state()->reserve_bytes != 0) {
        libc_prepare();
        start_seal();
    }
    reentry_restore(&saved);
}

/* Complete the profile at exit. Runs after the exit handlers, because they may free blocks: blocks
 * that are still live now were not freed. */
__attribute__((destructor)) static void
process_ends(void)
{
    static unsigned char buffer[MEM_RESIDENT_PAGES];

    if (!is_recording())
        return;
    real_calls_end();
    tick_end();
    access_process_ends();
    mem_measure(false, buffer);
    store_relaxed(&state->header->state, (uint32_t)DISK_STATE_ENDED);
    file_copy(FILE_COPY_LAST);
}
